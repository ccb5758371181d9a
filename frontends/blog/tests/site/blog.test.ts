import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage } from '../../../kit/testing/built-site.ts';

test('the list shows six articles, and names pages that none fills yet (section 2)', () => {
  const { page } = builtPage('/blog');
  const list = page.getByRole('region', { name: 'Latest Articles' });
  expect(within(list).getAllByRole('article')).toHaveLength(6);
  const pages = within(page.getByRole('navigation', { name: 'Pages' })).getAllByRole('button');
  expect(pages.map(button => [button.textContent, button.getAttribute('aria-disabled')])).toEqual([
    ['Previous', 'true'],
    ['1', 'false'],
    ['2', 'true'],
    ['3', 'true'],
    ['Next', 'true'],
  ]);
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
