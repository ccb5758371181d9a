import type { PostSummary } from './post.ts';

/** How many articles a page of the list shows. */
export const PAGE_SIZE = 6;
/** The list always names this many pages, also those that no article fills yet. */
const PAGES_NAMED = 3;

/** What the list can be narrowed to, by its name in the address. */
export const filters = [
  { slug: '', label: 'All' },
  { slug: 'technology', label: 'Technology', category: 'Technology' },
  { slug: 'trends', label: 'Trends', category: 'Trends' },
  { slug: 'case-studies', label: 'Case Studies', category: 'Case Study' },
] as const satisfies readonly { slug: string; label: string; category?: PostSummary['category'] }[];

/** One of the list's filters. */
export type Filter = (typeof filters)[number];

/** A page of the list. */
export interface Listing {
  filter: Filter;
  shown: readonly PostSummary[];
  /** How many articles the filter lets through, on all pages. */
  count: number;
  page: number;
  /** The pages to choose from; whoever shows them disables those that are not there. */
  pages: readonly { number: number; state: 'there' | 'missing' }[];
}

/** What the list shows at an address. Whatever the address says, there is something to read. */
export function listingOf(posts: readonly PostSummary[], search: URLSearchParams): Listing {
  const filter = filters.find(({ slug }) => slug === search.get('category')) ?? filters[0];
  const found = posts.filter(
    ({ category }) => !('category' in filter) || category === filter.category,
  );
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = pageIn(search, last);
  return {
    filter,
    shown: found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    count: found.length,
    page,
    pages: Array.from({ length: Math.max(last, PAGES_NAMED) }, (_, at) => ({
      number: at + 1,
      state: at < last ? 'there' : 'missing',
    })),
  };
}

/** The search parameters of a page of the list; the first page of all articles has none. */
export function searchOf({ slug }: Filter, page = 1): URLSearchParams {
  const search = new URLSearchParams();
  if (slug) {
    search.set('category', slug);
  }
  if (page > 1) {
    search.set('page', String(page));
  }
  return search;
}

/** What a screen reader is told once the list has changed. */
export function sentenceOf({ filter, count, page, shown }: Listing): string {
  const articles = count === 1 ? '1 article' : `${count} articles`;
  const where = filter.slug ? ` in ${filter.label}` : '';
  const first = (page - 1) * PAGE_SIZE + 1;
  const part = count > PAGE_SIZE ? `, showing ${first} to ${first + shown.length - 1}` : '';
  return `${articles}${where}${part}`;
}

function pageIn(search: URLSearchParams, last: number): number {
  const page = Number(search.get('page') ?? 1);
  return Number.isInteger(page) && page >= 1 && page <= last ? page : 1;
}
