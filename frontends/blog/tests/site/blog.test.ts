import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage } from '../../../kit/testing/built-site.ts';

test('the list shows six articles, and names pages that none fills yet (section 2)', () => {
  const { page } = builtPage('/blog');
  const list = page.getByRole('region', { name: 'Latest Articles' });
  expect(within(list).getAllByRole('article')).toHaveLength(6);
  const pages = within(page.getByRole('navigation', { name: 'Pages' })).getAllByRole('link');
  expect(pages.map(link => [link.textContent, link.getAttribute('href')])).toEqual([
    ['Previous', null],
    ['1', '/blog#articles'],
    ['2', null],
    ['3', null],
    ['Next', null],
  ]);
  expect(attributesOf(pages, 'aria-disabled')).toEqual(['true', null, 'true', 'true', 'true']);
});

test.each([
  ['technology', '2 articles in Technology', 2],
  ['trends', '1 article in Trends', 1],
  ['case-studies', '1 article in Case Studies', 1],
])('the category %s has a page of its own, and a link from the list', (slug, sentence, count) => {
  const path = `/blog/category/${slug}`;
  const categories = builtPage('/blog').page.getByRole('navigation', { name: 'Categories' });
  const links = within(categories).getAllByRole('link');
  expect(attributesOf(links, 'href')).toContain(`${path}#articles`);
  const { page } = builtPage(path);
  const list = page.getByRole('region', { name: 'Latest Articles' });
  expect(within(list).getByRole('status').textContent).toBe(sentence);
  expect(within(list).getAllByRole('article')).toHaveLength(count);
  const chosen = within(page.getByRole('navigation', { name: 'Categories' }))
    .getAllByRole('link')
    .filter(link => link.getAttribute('aria-current') === 'true');
  expect(attributesOf(chosen, 'href')).toEqual([`${path}#articles`]);
});

test('an article tells who wrote it and when, and how to share it (section 2)', () => {
  const { page, main } = builtPage('/blog/ai-advancements');
  for (const text of [/April 15, 2025/, /10 min read/, /By the CTO/]) {
    expect(main.getAllByText(text).length).toBeGreaterThan(0);
  }
  const facebook = page.getByRole('link', { name: /Facebook/ });
  expect(facebook.getAttribute('href')).toBe(
    'https://www.facebook.com/sharer/sharer.php?u=https%3A%2F%2Foculant.example%2Fblog%2Fai-advancements',
  );
  const shares = page.getAllByRole('link', { name: /Facebook|Twitter|LinkedIn/ });
  expect(attributesOf(shares, 'target')).toEqual(Array(3).fill('_blank'));
  expect(attributesOf(shares, 'rel')).toEqual(Array(3).fill('noopener'));
});
