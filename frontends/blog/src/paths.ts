import * as paths from '@site/kit/paths.ts';
import { authorOf } from './author.ts';
import { legacyRedirects, listPaths } from './listing.ts';
import { lastChangeOf } from './post.ts';
import { posts } from './posts.ts';

const authorPaths = [...new Set(posts.map(post => paths.author(authorOf(post).slug)))];

/** Every address of the blog that is prerendered. */
export const pages: readonly string[] = [
  ...listPaths(posts),
  ...posts.map(post => paths.article(post.id)),
  ...authorPaths,
];

/** The days on which pages last changed, where we know it. */
export const lastModified: Readonly<Record<string, string>> = Object.fromEntries(
  posts.map(post => [paths.article(post.id), lastChangeOf(post)]),
);

/** Every address of the blog that only leads on. */
export const redirects = legacyRedirects(posts);
