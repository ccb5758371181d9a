// @vitest-environment happy-dom
import { BrowserRouter, Link, Route, Routes, useLocation } from '@site/kit/router.ts';
import { act, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { lazy, Suspense } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../../../kit/testing/fake-time.ts';
import { setupUser } from '../../../kit/testing/setup-user.ts';
import { RouteAnnouncer } from './route-announcer.tsx';

beforeEach(() => {
  vi.useFakeTimers();
});

function Page({ title }: { title: string }) {
  return (
    <>
      <title>{`${title} | Oculant`}</title>
      <h1>{title}</h1>
    </>
  );
}

function Change() {
  const [, page = ''] = useLocation().pathname.split('/');
  return <RouteAnnouncer page={page} />;
}

/** Renders a site. Returns a function that lets the late page arrive. */
function show() {
  const module = Promise.withResolvers<{ default: () => ReactNode }>();
  const Late = lazy(() => module.promise);
  render(
    <BrowserRouter>
      <Link to="/about">About</Link>
      <Link to="/late">Late</Link>
      <Link to="?page=2#list">Next</Link>
      <Link to="/list">List</Link>
      <Link to="/list/trends">Trends</Link>
      <button type="button">Menu</button>
      <main>
        <Routes>
          <Route path="/" element={<Page title="Home" />} />
          <Route path="/about" element={<Page title="About us" />} />
          <Route path="/list/*" element={<Page title="List" />} />
          <Route
            path="/late"
            element={
              <Suspense fallback={<p>Loading…</p>}>
                <Late />
              </Suspense>
            }
          />
        </Routes>
      </main>
      <Change />
    </BrowserRouter>,
  );
  return async () => {
    module.resolve({ default: () => <Page title="Late" /> });
    await advanceTimers(1);
  };
}

function go(name: string) {
  return setupUser().click(screen.getByRole('link', { name }));
}

function said() {
  return document.querySelector('[aria-live]')?.textContent;
}

/** Text of the focused element. */
function focused() {
  return document.activeElement?.textContent;
}

test('the first page is not announced or focused', () => {
  show();
  expect(said()).toBe('');
  expect(document.activeElement).toBe(document.body);
});

test('a new page’s title is announced, its heading focused', async () => {
  show();
  await go('About');
  const heading = screen.getByRole('heading', { name: 'About us' });
  expect(document.activeElement).toBe(heading);
  expect(said()).toBe('About us | Oculant');
  await act(async () => heading.blur());
  expect(heading.hasAttribute('tabindex')).toBe(false);
});

test('a change of query or hash announces nothing, keeps focus', async () => {
  show();
  await go('Next');
  expect(location.search + location.hash).toBe('?page=2#list');
  expect(focused()).toBe('Next');
  expect(said()).toBe('');
});

test('a late page is announced and focused when it arrives', async () => {
  const arrive = show();
  await go('Late');
  expect(said()).toBe('');
  await arrive();
  expect(said()).toBe('Late | Oculant');
  expect(focused()).toBe('Late');
  expect(document.activeElement?.tagName).toBe('H1');
});

test('focus moved while the page loads stays there', async () => {
  const arrive = show();
  await go('Late');
  await act(async () => screen.getByRole('button', { name: 'Menu' }).focus());
  await arrive();
  expect(said()).toBe('Late | Oculant');
  expect(focused()).toBe('Menu');
});

test('another URL of the same page keeps the focus', async () => {
  show();
  await go('List');
  await advanceTimers(1000);
  await go('Trends');
  await advanceTimers(1000);
  expect(said()).toBe('List | Oculant');
  expect(focused()).toBe('Trends');
});
