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

/** Clicks on something, and says whether the browser is left to do what it does with a click. */
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

/** How many entries were added to the history, as the router counts them. */
function entry(): number {
  return history.state.idx;
}

test('a link shows its page without a load', () => {
  show(<Link to="/about?from=here#team">About</Link>);
  expect(click(screen.getByRole('link'))).toBe(false);
  expect(shown()).toBe('/about?from=here#team');
  expect(entry()).toBe(1);
});

test('a link that React does not know shows its page, too', () => {
  show(null);
  const link = Object.assign(document.createElement('a'), { href: '/about' });
  document.body.append(link);
  expect(click(link)).toBe(false);
  expect(shown()).toBe('/about');
  link.remove();
});

test('a link to what is shown adds nothing to the history', () => {
  show(<Link to="/blog/first?page=2">Here</Link>);
  expect(click(screen.getByRole('link'))).toBe(false);
  expect(entry()).toBe(0);
});

test.each([
  ['another tab', { ctrlKey: true }],
  ['another tab on a Mac', { metaKey: true }],
  ['another window', { shiftKey: true }],
  ['a download', { altKey: true }],
  ['what the middle button is for', { button: 1 }],
])('a click that asks for %s is the browser’s', (_, init) => {
  show(<Link to="/about">About</Link>);
  expect(click(screen.getByRole('link'), init)).toBe(true);
  expect(shown()).toBe('/blog/first?page=2');
});

test.each([
  ['to a place in the page', <Link to="#team" key="" />],
  ['that opens another tab', <Link to="/about" target="_blank" key="" />],
  ['to a file', <Link to="/brand.zip" download key="" />],
  ['to another site', <Link to="//elsewhere.example/about" key="" />],
])('a link %s is the browser’s', (_, link) => {
  show(link);
  expect(click(screen.getByRole('link'))).toBe(true);
  expect(shown()).toBe('/blog/first?page=2');
});

test('whoever makes something else of a click keeps the visitor here', () => {
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
])('a link to %s (its own page only: %s) is marked as %s', (to, end, current) => {
  show(
    <NavLink to={to} end={end}>
      It
    </NavLink>,
  );
  expect(screen.getByRole('link').getAttribute('aria-current')).toBe(current);
});
