import type { PostSummary, PostText } from './post.ts';

interface PostModule {
  summary: PostSummary;
  load: () => Promise<PostText>;
}

// Every file in the folder is an article: there is no list to keep.
const context = import.meta.webpackContext('../posts', { regExp: /\.md$/ });

const modules: readonly PostModule[] = context
  .keys()
  .map(key => context(key) as PostModule)
  .sort((a, b) => b.summary.date.localeCompare(a.summary.date));

/** All articles, newest first. */
export const posts: readonly PostSummary[] = modules.map(({ summary }) => summary);

/** Fetches the text of an article. */
export function loadText(id: string): Promise<PostText> {
  const found = modules.find(({ summary }) => summary.id === id);
  return found ? found.load() : Promise.reject(new Error(`There is no article ${id}`));
}
