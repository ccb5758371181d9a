// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import { render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { Pagination } from './pagination.tsx';

const PAGES = [
  { number: 1, path: '/blog' },
  { number: 2, path: '/blog/page/2' },
];

function pagesAt(page: number) {
  return (
    <BrowserRouter>
      <Pagination listing={{ page, pages: PAGES }} hash="#articles" />
    </BrowserRouter>
  );
}

test('focus moves to the page when Next becomes disabled', () => {
  const { rerender } = render(pagesAt(1));
  expect(document.activeElement).toBe(document.body);
  screen.getByRole('link', { name: 'Next' }).focus();
  rerender(pagesAt(2));
  expect(document.activeElement?.textContent).toBe('2');
});

test('a link that stays keeps the focus', () => {
  const { rerender } = render(pagesAt(1));
  screen.getByRole('link', { name: '2' }).focus();
  rerender(pagesAt(2));
  expect(document.activeElement?.textContent).toBe('2');
  expect(screen.getByRole('link', { name: 'Next' }).getAttribute('aria-disabled')).toBe('true');
});
