import * as paths from '@site/kit/paths.ts';
import { legacyRedirects, listPaths } from './listing.ts';
import { posts } from './posts.ts';

/** Every address of the blog that is prerendered. */
export const pages: readonly string[] = [
  ...listPaths(posts),
  ...posts.map(post => paths.article(post.id)),
];

/** Every address of the blog that only leads on. */
export const redirects = legacyRedirects(posts);
