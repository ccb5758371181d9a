// @vitest-environment happy-dom
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeOperators } from '../../kit/testing/fake-operators.ts';
import { fakeOperators } from '../../kit/testing/fake-operators.ts';
import { pass } from '../../kit/testing/fake-time.ts';
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

let operators: FakeOperators;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // A text is kept for as long as the page is open.
  vi.resetModules();
  loadText.mockReset();
  operators = fakeOperators();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

/** Shows the text of an article, in HTML that was rendered ahead of time where there is some. */
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
  await pass(500);
  expect(isThere()).toBe(true);
  expect(screen.getByText('Share')).toBeTruthy();
  expect(screen.getByRole('navigation', { name: 'On this page' })).toBeTruthy();
});

test('a text that does not come is told to the operators after three retries, and Retry brings it', async () => {
  operators.partAnswers(503);
  loadText.mockRejectedValue(LOST);
  await article();
  await pass(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toEqual([{ remote: 'blog', reason: 'unreachable' }]);
  loadText.mockResolvedValue(TEXT);
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await user.click(screen.getByRole('button', { name: 'Retry' }));
  await pass(0);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('after eight seconds a text is said not to have come, and then it is shown all the same', async () => {
  loadText.mockImplementation(() => new Promise(resolve => setTimeout(() => resolve(TEXT), 9_000)));
  await article();
  await pass(8_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toEqual([{ remote: 'blog', reason: 'slow' }]);
  await pass(1_000);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a text that failed is asked for again when its article is gone to again', async () => {
  loadText.mockRejectedValue(LOST);
  const page = await article();
  await pass(7_000);
  cleanup();
  loadText.mockResolvedValue(TEXT);
  render(page);
  await pass(0);
  expect(isThere()).toBe(true);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('for a text that is gone with a former build the page is loaded again', async () => {
  operators.partAnswers(404);
  loadText.mockRejectedValue(LOST);
  await article();
  await pass(0);
  expect(reload).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole('alert')).toBeNull();
});

/** The page as the build renders it. */
async function rendered(version: string) {
  document.head.innerHTML = `<meta name="remote:blog" content="${version}">`;
  loadText.mockResolvedValue(TEXT);
  const page = await article();
  await pass(0);
  const html = document.body.innerHTML;
  cleanup();
  document.body.replaceChildren();
  vi.resetModules();
  loadText.mockClear();
  return { page, html };
}

test('a text that was rendered ahead of time is not fetched', async () => {
  const { html } = await rendered('under test');
  expect(html).toContain(HTML);
  document.body.innerHTML = html;
  await article();
  await pass(0);
  expect(loadText).not.toHaveBeenCalled();
  expect(screen.getAllByRole('heading', { name: 'Physics still applies' })).toHaveLength(2);
});

test('a text that was rendered by another build is fetched', async () => {
  const { html } = await rendered('former');
  document.body.innerHTML = html;
  await article();
  await pass(0);
  expect(loadText).toHaveBeenCalledTimes(1);
});
