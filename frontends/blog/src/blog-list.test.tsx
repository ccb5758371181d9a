// @vitest-environment happy-dom
import { BrowserRouter, Route, Routes } from '@site/kit/router.ts';
import { StaticRouter } from '@site/kit/static-router.ts';
import { fireEvent, render, screen, within } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeIntersectionObserver } from '../../kit/testing/fake-intersection-observer.ts';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import { postFixture } from '../tests/post-fixture.ts';

const posts = ['smart-home', 'case-study', 'future-trends'].map(id =>
  postFixture({ id, title: id }),
);
vi.mock('./posts.ts', () => ({ posts }));
const search = vi.hoisted(() => vi.fn<(words: string) => string[]>());
vi.mock('./search.ts', () => ({ search }));

let BlogList: typeof import('./blog-list.tsx')['default'];

beforeEach(async () => {
  vi.useFakeTimers();
  fakeIntersectionObserver();
  search.mockReset();
  search.mockImplementation(words => (words === 'homes' ? ['smart-home'] : []));
  // Modules keep loaded parts between tests.
  vi.resetModules();
  BlogList = (await import('./blog-list.tsx')).default;
  await import('./search-results.tsx');
});

function App() {
  return (
    <Routes>
      <Route path="/blog" element={<BlogList />} />
    </Routes>
  );
}

function show(address: string, container?: HTMLElement) {
  history.replaceState(null, '', address);
  const page = (
    <BrowserRouter>
      <App />
    </BrowserRouter>
  );
  return render(page, container ? { container, hydrate: true } : {});
}

function titles() {
  const list = within(screen.getByRole('region', { name: 'Latest Articles' }));
  return list.queryAllByRole('heading', { level: 3 }).map(({ textContent }) => textContent);
}

function status() {
  // Leaves out the newsletter form's status, which is empty.
  const said = screen.getAllByRole('status').map(({ textContent }) => textContent);
  return said.filter(Boolean);
}

async function type(words: string) {
  fireEvent.change(screen.getByLabelText('Search articles'), { target: { value: words } });
  await advanceTimers(200);
  await advanceTimers(0);
}

test('results replace the list; an empty field restores it', async () => {
  show('/blog');
  expect(titles()).toEqual(['smart-home', 'case-study', 'future-trends']);
  await type('homes');
  expect(location.search).toBe('?q=homes');
  expect(titles()).toEqual(['smart-home']);
  expect(status()).toEqual(['1 article on “homes”']);
  await type('zeppelin');
  expect(titles()).toEqual([]);
  expect(status()).toEqual(['No article has anything on “zeppelin”']);
  await type('');
  expect(location.search).toBe('');
  expect(titles()).toHaveLength(3);
});

test('a URL with search words shows results after hydration', async () => {
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = renderToString(
    <StaticRouter location="/blog">
      <App />
    </StaticRouter>,
  );
  show('/blog?q=homes', container);
  await advanceTimers(0);
  expect(screen.getByLabelText<HTMLInputElement>('Search articles').value).toBe('homes');
  expect(titles()).toEqual(['smart-home']);
});
