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
  .sort((a, b) => b.summary.published.localeCompare(a.summary.published));

/** All articles, newest first. */
export const posts: readonly PostSummary[] = modules.map(({ summary }) => summary);

const texts = new Map<string, Promise<PostText>>();

/** The text of an article, loaded once. */
export function textOf(id: string): Promise<PostText> | undefined {
  const found = modules.find(({ summary }) => summary.id === id);
  if (found && !texts.has(id)) {
    texts.set(id, found.load());
  }
  return texts.get(id);
}
