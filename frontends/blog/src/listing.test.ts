import { expect, test } from 'vitest';
import { postFixture } from '../tests/post-fixture.ts';
import { filters, legacyRedirects, listingOf, lists, pathOf, resultSummary } from './listing.ts';

const posts = (
  ['Technology', 'Privacy', 'Trends', 'Technology', 'Residential', 'Case Study'] as const
).map((category, at) => postFixture({ id: `post-${at + 1}`, category }));
const many = Array.from({ length: 13 }, (_, at) =>
  postFixture({ id: `post-${at + 1}`, category: 'Trends' }),
);

test.each([
  [undefined, ['post-1', 'post-2', 'post-3', 'post-4', 'post-5', 'post-6'], '6 articles'],
  ['technology', ['post-1', 'post-4'], '2 articles in Technology'],
  ['trends', ['post-3'], '1 article in Trends'],
  ['case-studies', ['post-6'], '1 article in Case Studies'],
])('the list of the category %s', (category, ids, sentence) => {
  const listing = listingOf(posts, { category });
  expect(listing?.shown.map(({ id }) => id)).toEqual(ids);
  expect(listing && resultSummary(listing)).toBe(sentence);
});

test.each([
  { category: 'gossip' },
  { page: '2' },
  { page: '0' },
  { page: '01' },
  { page: '1.5' },
  { page: 'x' },
])('there is no list at %j', address => {
  expect(listingOf(posts, address)).toBeUndefined();
});

test('three pages are named, and empty ones have no path', () => {
  const paths = (of: typeof posts) => listingOf(of, {})?.pages.map(({ path }) => path);
  expect(paths(posts)).toEqual(['/blog', undefined, undefined]);
  expect(paths(many.slice(0, 7))).toEqual(['/blog', '/blog/page/2', undefined]);
  expect(paths([...many, ...many])).toHaveLength(5);
});

test('the last page shows the remaining articles', () => {
  const listing = listingOf(many, { category: 'trends', page: '3' });
  expect(listing?.shown.map(({ id }) => id)).toEqual(['post-13']);
  expect(listing && resultSummary(listing)).toBe('13 articles in Trends, showing 13 to 13');
});

test('a path omits the first page and an empty category', () => {
  const [all, technology] = filters;
  expect(pathOf(all)).toBe('/blog');
  expect(pathOf(all, 2)).toBe('/blog/page/2');
  expect(pathOf(technology, 2)).toBe('/blog/category/technology/page/2');
});

test('every page with articles has a path', () => {
  expect(lists(many).map(({ path }) => path)).toEqual([
    '/blog',
    '/blog/page/2',
    '/blog/page/3',
    '/blog/category/technology',
    '/blog/category/trends',
    '/blog/category/trends/page/2',
    '/blog/category/trends/page/3',
    '/blog/category/case-studies',
  ]);
});

test('legacy URLs redirect, the most specific first', () => {
  const former = legacyRedirects(many).map(({ from, parameters, to }) => [
    `${from}?${parameters.join('&')}`,
    to,
  ]);
  expect(former).toEqual([
    ['/blog?category=trends&page=2', '/blog/category/trends/page/2'],
    ['/blog?category=trends&page=3', '/blog/category/trends/page/3'],
    ['/blog?page=2', '/blog/page/2'],
    ['/blog?page=3', '/blog/page/3'],
    ['/blog?category=technology', '/blog/category/technology'],
    ['/blog?category=trends', '/blog/category/trends'],
    ['/blog?category=case-studies', '/blog/category/case-studies'],
  ]);
});
