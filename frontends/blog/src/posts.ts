import type { PostSummary, PostText } from './post.ts';

interface PostModule {
  summary: PostSummary;
  load: () => Promise<PostText>;
}

// Every file in the folder is an article, so no list is needed.
const context = import.meta.webpackContext('../posts', { regExp: /\.md$/ });

const modules: readonly PostModule[] = context
  .keys()
  .map(key => context(key) as PostModule)
  // Avoids `localeCompare`, whose first call blocks a phone for 60 ms.
  .sort((a, b) => (a.summary.date < b.summary.date ? 1 : -1));

/** All articles, newest first. */
export const posts: readonly PostSummary[] = modules.map(({ summary }) => summary);

export function loadText(id: string): Promise<PostText> {
  const found = modules.find(({ summary }) => summary.id === id);
  return found ? found.load() : Promise.reject(new Error(`There is no article ${id}`));
}
