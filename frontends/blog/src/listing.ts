import * as paths from '@site/kit/paths.ts';
import type { PostSummary } from './post.ts';

const PAGE_SIZE = 6;
/** The pagination shows at least this many pages, even if some have no articles yet. */
const MIN_PAGE_LINKS = 3;

/** Category filters. The slug is part of the path. */
export const filters = [
  { slug: '', label: 'All' },
  { slug: 'technology', label: 'Technology', category: 'Technology' },
  { slug: 'trends', label: 'Trends', category: 'Trends' },
  { slug: 'case-studies', label: 'Case Studies', category: 'Case Study' },
] as const satisfies readonly { slug: string; label: string; category?: PostSummary['category'] }[];

export type Filter = (typeof filters)[number];

export interface Listing {
  filter: Filter;
  shown: readonly PostSummary[];
  /** Articles on all pages. */
  count: number;
  page: number;
  /** A page without articles has no path. */
  pages: readonly { number: number; path?: string }[];
}

interface ListParameters {
  category?: string | undefined;
  page?: string | undefined;
}

/** Returns nothing if the category or the page does not exist. */
export function listingOf(
  posts: readonly PostSummary[],
  { category = '', page = '1' }: ListParameters,
): Listing | undefined {
  const filter = filters.find(({ slug }) => slug === category);
  const found = filter ? posts.filter(post => isIn(filter, post)) : [];
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const number = Array.from({ length: last }, (_, at) => at + 1).find(at => String(at) === page);
  if (!(filter && number)) {
    return undefined;
  }
  return {
    filter,
    shown: found.slice((number - 1) * PAGE_SIZE, number * PAGE_SIZE),
    count: found.length,
    page: number,
    pages: Array.from({ length: Math.max(last, MIN_PAGE_LINKS) }, (_, at) =>
      at < last ? { number: at + 1, path: pathOf(filter, at + 1) } : { number: at + 1 },
    ),
  };
}

export function pathOf({ slug }: Filter, page = 1): string {
  const category = slug ? `/category/${slug}` : '';
  return `${paths.blog}${category}${page > 1 ? `/page/${page}` : ''}`;
}

export function lists(posts: readonly PostSummary[]) {
  return everyPage(posts).map(({ filter, page }) => ({
    path: pathOf(filter, page),
    shown: listingOf(posts, { category: filter.slug, page: String(page) })?.shown ?? [],
  }));
}

/** Legacy URLs had category and page in the query. */
export function legacyRedirects(posts: readonly PostSummary[]) {
  const former = everyPage(posts).map(({ filter, page }) => ({
    from: paths.blog,
    // For example `page=2`. The server takes the first redirect whose parameters all match.
    parameters: [
      ...(filter.slug ? [`category=${filter.slug}`] : []),
      ...(page > 1 ? [`page=${page}`] : []),
    ],
    to: pathOf(filter, page),
  }));
  return former
    .filter(({ parameters }) => parameters.length > 0)
    .sort((a, b) => b.parameters.length - a.parameters.length);
}

/** Screen readers announce this text when the list changes. */
export function resultSummary({ filter, count, page, shown }: Listing): string {
  const articles = count === 1 ? '1 article' : `${count} articles`;
  const where = filter.slug ? ` in ${filter.label}` : '';
  const first = (page - 1) * PAGE_SIZE + 1;
  const part = count > PAGE_SIZE ? `, showing ${first} to ${first + shown.length - 1}` : '';
  return `${articles}${where}${part}`;
}

function isIn(filter: Filter, { category }: PostSummary): boolean {
  return !('category' in filter) || category === filter.category;
}

function everyPage(posts: readonly PostSummary[]): Pick<Listing, 'filter' | 'page'>[] {
  return filters.flatMap(filter => {
    const pages = listingOf(posts, { category: filter.slug })?.pages ?? [];
    return pages.filter(({ path }) => path).map(({ number }) => ({ filter, page: number }));
  });
}
