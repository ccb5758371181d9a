// @vitest-environment happy-dom
import { BrowserRouter, Link, NavLink, useLocation } from '@site/kit/router.ts';
import { fireEvent, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, expect, test } from 'vitest';

beforeEach(() => {
  history.replaceState(null, '', '/blog/first?page=2');
});

function Shown() {
  const { pathname, search, hash } = useLocation();
  return <p role="status">{pathname + search + hash}</p>;
}

function show(link: ReactNode) {
  render(
    <BrowserRouter>
      {link}
      <Shown />
    </BrowserRouter>,
  );
}

/** Clicks an element, and returns whether the browser's default action remains. */
function click(element: Element, init?: MouseEventInit): boolean {
  let isLeft = false;
  function look(event: Event) {
    isLeft = !event.defaultPrevented;
    event.preventDefault();
  }
  window.addEventListener('click', look, { once: true });
  fireEvent.click(element, init);
  return isLeft;
}

function shown() {
  return screen.getByRole('status').textContent;
}

/** Number of history entries that the router has added. */
function entry(): number {
  return history.state.idx;
}

test('a link shows its page without a page load', () => {
  show(<Link to="/about?from=here#team">About</Link>);
  expect(click(screen.getByRole('link'))).toBe(false);
  expect(shown()).toBe('/about?from=here#team');
  expect(entry()).toBe(1);
});

test('a link outside of React shows its page, too', () => {
  show(null);
  const link = Object.assign(document.createElement('a'), { href: '/about' });
  document.body.append(link);
  expect(click(link)).toBe(false);
  expect(shown()).toBe('/about');
  link.remove();
});

test('a link to the current page adds no history entry', () => {
  show(<Link to="/blog/first?page=2">Here</Link>);
  expect(click(screen.getByRole('link'))).toBe(false);
  expect(entry()).toBe(0);
});

test.each([
  ['another tab', { ctrlKey: true }],
  ['another tab on a Mac', { metaKey: true }],
  ['another window', { shiftKey: true }],
  ['a download', { altKey: true }],
  ['the middle button’s action', { button: 1 }],
])('the browser handles a click for %s', (_, init) => {
  show(<Link to="/about">About</Link>);
  expect(click(screen.getByRole('link'), init)).toBe(true);
  expect(shown()).toBe('/blog/first?page=2');
});

test.each([
  ['to a place in the page', <Link to="#team" key="" />],
  ['that opens another tab', <Link to="/about" target="_blank" key="" />],
  ['to a file', <Link to="/brand.zip" download key="" />],
  ['to another site', <Link to="//elsewhere.example/about" key="" />],
])('the browser handles a link %s', (_, link) => {
  show(link);
  expect(click(screen.getByRole('link'))).toBe(true);
  expect(shown()).toBe('/blog/first?page=2');
});

test('a click handler can prevent navigation', () => {
  show(
    <Link to="/about" onClick={event => event.preventDefault()}>
      About
    </Link>,
  );
  click(screen.getByRole('link'));
  expect(shown()).toBe('/blog/first?page=2');
});

test.each([
  ['/blog/first', false, 'page'],
  ['/blog', false, 'page'],
  ['/blog', true, null],
  ['/bl', false, null],
  ['/', true, null],
])('a link to %s (exact match: %s) has aria-current %s', (to, end, current) => {
  show(
    <NavLink to={to} end={end}>
      It
    </NavLink>,
  );
  expect(screen.getByRole('link').getAttribute('aria-current')).toBe(current);
});
