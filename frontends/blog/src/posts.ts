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
  // Not by `localeCompare`, for which a phone stands still for 60 ms.
  .sort((a, b) => (a.summary.date < b.summary.date ? 1 : -1));

/** All articles, newest first. */
export const posts: readonly PostSummary[] = modules.map(({ summary }) => summary);

/** Fetches the text of an article. */
export function loadText(id: string): Promise<PostText> {
  const found = modules.find(({ summary }) => summary.id === id);
  return found ? found.load() : Promise.reject(new Error(`There is no article ${id}`));
}
