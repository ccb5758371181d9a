import * as paths from '@site/kit/paths.ts';
import { authorOf } from './author.ts';
import { legacyRedirects, lists } from './listing.ts';
import type { PostSummary } from './post.ts';
import { lastChangeOf } from './post.ts';
import { posts } from './posts.ts';

const authorPaths = [...new Set(posts.map(pathOfAuthor))];

/** Every address of the blog that is prerendered. */
export const pages: readonly string[] = [
  ...lists(posts).map(({ path }) => path),
  ...posts.map(post => paths.article(post.id)),
  ...authorPaths,
];

/** The days on which pages last changed, where we know it. */
export const lastModified: Readonly<Record<string, string>> = Object.fromEntries([
  ...posts.map(post => [paths.article(post.id), lastChangeOf(post)]),
  ...lists(posts).map(({ path, shown }) => [path, newestChangeOf(shown)]),
  ...authorPaths.map(path => [
    path,
    newestChangeOf(posts.filter(post => pathOfAuthor(post) === path)),
  ]),
]);

/** A list changes with what it shows. */
function newestChangeOf(shown: readonly PostSummary[]): string | undefined {
  return shown.map(lastChangeOf).toSorted().at(-1);
}

function pathOfAuthor(post: PostSummary): string {
  return paths.author(authorOf(post).slug);
}

/** Every address of the blog that only leads on. */
export const redirects = legacyRedirects(posts);
