import { expect, test } from 'vitest';
import { anyPost } from './any-post.ts';
import { filters, listingOf, searchOf, sentenceOf } from './listing.ts';

const posts = (
  ['Technology', 'Privacy', 'Trends', 'Technology', 'Residential', 'Case Study'] as const
).map((category, at) => anyPost({ id: `post-${at + 1}`, category }));
const many = Array.from({ length: 13 }, (_, at) =>
  anyPost({ id: `post-${at + 1}`, category: 'Trends' }),
);

function at(search: string, among = posts) {
  return listingOf(among, new URLSearchParams(search));
}

test.each([
  ['', ['post-1', 'post-2', 'post-3', 'post-4', 'post-5', 'post-6'], '6 articles'],
  ['category=technology', ['post-1', 'post-4'], '2 articles in Technology'],
  ['category=trends', ['post-3'], '1 article in Trends'],
  ['category=case-studies', ['post-6'], '1 article in Case Studies'],
])('the list at ?%s', (search, ids, sentence) => {
  const listing = at(search);
  expect(listing.shown.map(({ id }) => id)).toEqual(ids);
  expect(sentenceOf(listing)).toBe(sentence);
});

test.each(['category=gossip', 'page=2', 'page=0', 'page=1.5', 'page=x'])(
  'an address that means nothing (?%s) shows all articles from the first',
  search => {
    expect(at(search)).toEqual(at(''));
  },
);

test('three pages are named, and those that no article fills are missing', () => {
  expect(at('').pages.map(({ state }) => state)).toEqual(['there', 'missing', 'missing']);
  expect(at('', many.slice(0, 7)).pages.map(({ state }) => state)).toEqual([
    'there',
    'there',
    'missing',
  ]);
  expect(at('', [...many, ...many]).pages).toHaveLength(5);
});

test('a later page shows what is left', () => {
  const listing = at('category=trends&page=3', many);
  expect(listing.shown.map(({ id }) => id)).toEqual(['post-13']);
  expect(sentenceOf(listing)).toBe('13 articles in Trends, showing 13 to 13');
});

test('an address says no more than it must', () => {
  const [all, technology] = filters;
  expect(String(searchOf(all))).toBe('');
  expect(String(searchOf(all, 2))).toBe('page=2');
  expect(String(searchOf(technology, 2))).toBe('category=technology&page=2');
});
