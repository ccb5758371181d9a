import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { searchIndexOf } from '../build/search-index.ts';

const posts = join(import.meta.dirname, '../posts');
const files = readdirSync(posts).map(name => ({
  name,
  source: readFileSync(join(posts, name), 'utf8'),
}));
const leftOut = parse(readFileSync(join(import.meta.dirname, 'search-index.yaml'), 'utf8'));

// Mocks the module that the bundler's loader produces.
vi.mock('./search-index.yaml', () => ({ index: searchIndexOf(files, leftOut), leftOut }));
const { search } = await import('./search.ts');

test.each([
  ['words of a title', 'smart homes', 'smart-home'],
  ['a word of the text alone', 'Ryneš', 'smart-home'],
  ['the beginning of a word', 'forkl', 'ai-advancements'],
  ['capitals, plural and possessive', 'FORKLIFT’s', 'ai-advancements'],
  ['a typo of one letter', 'forklit', 'ai-advancements'],
  ['a word among stop words', 'what is the onvif', 'ai-advancements'],
])('%s is found', (_, words, id) => {
  expect(search(words)).toContain(id);
});

test('the best match comes first', () => {
  expect(search('facial recognition')[0]).toBe('facial-recognition');
  expect(search('privacy')[0]).toBe('privacy-security');
});

test('all words must match', () => {
  const both = search('retail theft');
  expect(both).toContain('case-study');
  for (const id of both) {
    expect(search('retail')).toContain(id);
    expect(search('theft')).toContain(id);
  }
  expect(search('zeppelin')).toEqual([]);
  expect(search('')).toEqual([]);
});
