// @vitest-environment happy-dom
import { act, cleanup, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../../kit/testing/fake-fetch.ts';
import { fakeFetch } from '../../kit/testing/fake-fetch.ts';
import { advanceTimers } from '../../kit/testing/fake-time.ts';
import { setupUser } from '../../kit/testing/setup-user.ts';
import type { PostText } from './post.ts';

const loadText = vi.hoisted(() => vi.fn<(id: string) => Promise<PostText>>());
vi.mock('./posts.ts', () => ({ loadText }));

const FAILED = 'The text of this article did not load';
const HTML = '<h2 id="physics">Physics still applies</h2>';
const TEXT: PostText = { html: HTML, headings: [{ id: 'physics', text: 'Physics still applies' }] };
/** What the bundler throws where a text did not come. */
const LOST = Object.assign(new Error('Loading chunk failed.'), {
  request: '/remotes/blog/assets/post-smart-home.1234.js',
});

let network: FakeFetch;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // A text is kept for as long as the page is open.
  vi.resetModules();
  loadText.mockReset();
  network = fakeFetch();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

/** Shows the text of an article, in HTML that was prerendered where there is some. */
async function article(html?: string) {
  const { ArticleText } = await import('./article-text.tsx');
  const page = (
    <ArticleText id="smart-home">
      <p>Share</p>
    </ArticleText>
  );
  document.body.appendChild(document.createElement('h1')).textContent = 'AI in Smart Homes';
  const container = document.body.appendChild(document.createElement('div'));
  container.innerHTML = html ?? '';
  await act(async () => render(page, { container, hydrate: html !== undefined }));
  return page;
}

function isThere() {
  return screen.queryByRole('heading', { name: 'Physics still applies' }) !== null;
}

test('while a text is on its way it is said to be loading, and then it is shown with what stands below it', async () => {
  loadText.mockImplementation(() => new Promise(resolve => setTimeout(() => resolve(TEXT), 500)));
  await article();
  expect(loadText).toHaveBeenCalledWith('smart-home');
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await advanceTimers(500);
  expect(isThere()).toBe(true);
  expect(screen.getByText('Share')).toBeTruthy();
  expect(screen.getByRole('navigation', { name: 'On this page' })).toBeTruthy();
});

test('a text that does not come is told to the operators after three retries, and Retry brings it', async () => {
  network.partAnswers(503);
  loadText.mockRejectedValue(LOST);
  await article();
  await advanceTimers(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'blog', reason: 'unreachable' }]);
  loadText.mockResolvedValue(TEXT);
  await setupUser().click(screen.getByRole('button', { name: 'Retry' }));
  await advanceTimers(0);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('after eight seconds a text is said not to have come, and then it is shown all the same', async () => {
  loadText.mockImplementation(() => new Promise(resolve => setTimeout(() => resolve(TEXT), 9_000)));
  await article();
  await advanceTimers(8_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'blog', reason: 'slow' }]);
  await advanceTimers(1_000);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a text that failed is asked for again when its article is gone to again', async () => {
  loadText.mockRejectedValue(LOST);
  const page = await article();
  await advanceTimers(7_000);
  cleanup();
  loadText.mockResolvedValue(TEXT);
  render(page);
  await advanceTimers(0);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('for a text that is gone with a former build the page is loaded again', async () => {
  network.partAnswers(404);
  loadText.mockRejectedValue(LOST);
  await article();
  await advanceTimers(0);
  expect(reload).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole('alert')).toBeNull();
});

/** The page as the build renders it. */
async function rendered(version: string) {
  document.head.innerHTML = `<meta name="remote:blog" content="${version}">`;
  loadText.mockResolvedValue(TEXT);
  const page = await article();
  await advanceTimers(0);
  const html = document.body.innerHTML;
  cleanup();
  document.body.replaceChildren();
  vi.resetModules();
  loadText.mockClear();
  return { page, html };
}

test('a text that was prerendered is not fetched', async () => {
  const { html } = await rendered('under test');
  expect(html).toContain(HTML);
  document.body.innerHTML = html;
  await article();
  await advanceTimers(0);
  expect(loadText).not.toHaveBeenCalled();
  expect(screen.getAllByRole('heading', { name: 'Physics still applies' })).toHaveLength(2);
});

test('a text that was rendered by another build is fetched', async () => {
  const { html } = await rendered('former');
  document.body.innerHTML = html;
  await article();
  await advanceTimers(0);
  expect(loadText).toHaveBeenCalledTimes(1);
});
