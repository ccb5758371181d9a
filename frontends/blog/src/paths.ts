import * as paths from '@site/kit/paths.ts';
import { authorOf } from './author.ts';
import { legacyRedirects, lists } from './listing.ts';
import type { PostSummary } from './post.ts';
import { lastChangeOf } from './post.ts';
import { posts } from './posts.ts';

const authorPaths = [...new Set(posts.map(pathOfAuthor))];

export const pages: readonly string[] = [
  ...lists(posts).map(({ path }) => path),
  ...posts.map(post => paths.article(post.id)),
  ...authorPaths,
];

/** Day of the last change by path, for the sitemap. */
export const lastModified: Readonly<Record<string, string>> = Object.fromEntries([
  ...posts.map(post => [paths.article(post.id), lastChangeOf(post)]),
  ...lists(posts).map(({ path, shown }) => [path, newestChangeOf(shown)]),
  ...authorPaths.map(path => [
    path,
    newestChangeOf(posts.filter(post => pathOfAuthor(post) === path)),
  ]),
]);

/** A list changes whenever one of its articles does. */
function newestChangeOf(shown: readonly PostSummary[]): string | undefined {
  return shown.map(lastChangeOf).toSorted().at(-1);
}

function pathOfAuthor(post: PostSummary): string {
  return paths.author(authorOf(post).slug);
}

export const redirects = legacyRedirects(posts);
