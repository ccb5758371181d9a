import * as paths from '@site/kit/paths.ts';
import { formerAddresses, listPaths } from './listing.ts';
import { posts } from './posts.ts';

/** Every address of the blog that is rendered ahead of time. */
export const pages: readonly string[] = [
  ...listPaths(posts),
  ...posts.map(post => paths.article(post.id)),
];

/** Every address of the blog that only leads on. */
export const redirects = formerAddresses(posts);
