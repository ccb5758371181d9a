import type { PostSummary } from './post.ts';

const SHOWN = 3;

/** Related articles: first those of the same category, then the newest. */
export function relatedTo(
  { id, category }: PostSummary,
  posts: readonly PostSummary[],
): readonly PostSummary[] {
  const others = posts.filter(post => post.id !== id);
  const [same, rest] = [
    others.filter(post => post.category === category),
    others.filter(post => post.category !== category),
  ];
  return [...same, ...rest].slice(0, SHOWN);
}
