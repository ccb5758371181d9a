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
/** The bundler's error for a chunk that does not load. */
const LOST = Object.assign(new Error('Loading chunk failed.'), {
  request: '/remotes/blog/assets/post-smart-home.1234.js',
});

let network: FakeFetch;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // Modules keep loaded texts.
  vi.resetModules();
  loadText.mockReset();
  network = fakeFetch();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

/** Renders an article's text, or hydrates it in prerendered HTML. */
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

test('a loading message shows until the text arrives', async () => {
  loadText.mockImplementation(() => new Promise(resolve => setTimeout(() => resolve(TEXT), 500)));
  await article();
  expect(loadText).toHaveBeenCalledWith('smart-home');
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await advanceTimers(500);
  expect(isThere()).toBe(true);
  expect(screen.getByText('Share')).toBeTruthy();
  expect(screen.getByRole('navigation', { name: 'On this page' })).toBeTruthy();
});

test('a failed text is reported, and Retry loads it', async () => {
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

test('a late text shows an error, then replaces it', async () => {
  loadText.mockImplementation(() => new Promise(resolve => setTimeout(() => resolve(TEXT), 9_000)));
  await article();
  await advanceTimers(8_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'blog', reason: 'slow' }]);
  await advanceTimers(1_000);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a failed text loads again on the next visit', async () => {
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

test('the page reloads if a new build removed the text', async () => {
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

test('a prerendered text is not fetched', async () => {
  const { html } = await rendered('under test');
  expect(html).toContain(HTML);
  document.body.innerHTML = html;
  await article();
  await advanceTimers(0);
  expect(loadText).not.toHaveBeenCalled();
  expect(screen.getAllByRole('heading', { name: 'Physics still applies' })).toHaveLength(2);
});

test('a text prerendered by another build is fetched', async () => {
  const { html } = await rendered('former');
  document.body.innerHTML = html;
  await article();
  await advanceTimers(0);
  expect(loadText).toHaveBeenCalledTimes(1);
});
