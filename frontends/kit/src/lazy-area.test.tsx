// @vitest-environment happy-dom
import { act, cleanup, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../testing/fake-fetch.ts';
import { fakeFetch } from '../testing/fake-fetch.ts';
import { fakeIntersectionObserver } from '../testing/fake-intersection-observer.ts';
import { advanceTimers } from '../testing/fake-time.ts';
import { setupUser } from '../testing/setup-user.ts';
import type { PartModule } from './lazy-part.ts';
import { PageMeta } from './page-meta.tsx';

const loadRemote = vi.fn<() => Promise<PartModule>>();

const FAILED = 'This part of the site did not load';
const LOST = Object.assign(new Error('Loading chunk failed.'), { request: '/remotes/part.js' });
const MODULE = { default: () => <h1>Ten internships</h1>, version: 'ours' };
const SEARCH = { default: () => <input aria-label="Search" />, version: 'ours' };
const TEASERS = { default: () => <h2>Latest Insights</h2>, version: 'ours' };

let isCorrupt = false;
function Corrupt() {
  if (isCorrupt) {
    throw new Error('corrupt');
  }
  return <h1>Ten internships</h1>;
}

function CareersPage() {
  return (
    <>
      <PageMeta title="Careers" description="Ten internships." />
      <h1>Ten internships</h1>
    </>
  );
}

let network: FakeFetch;
const reload = vi.fn();
const onMissing = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // Modules keep load states and sent reports.
  vi.resetModules();
  network = fakeFetch();
  isCorrupt = false;
  loadRemote.mockReset();
  reload.mockReset();
  onMissing.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

interface Options {
  when?: 'now' | 'near-viewport';
  /** For `part`, the page around the area has a heading. */
  fills?: 'page' | 'part';
  /** Prerendered HTML of the area. */
  html?: string;
  /** Loads a part of the shell. By default the area shows the careers remote. */
  load?: () => Promise<PartModule>;
}

async function area({ when = 'now', fills = 'part', html, load }: Options = {}) {
  if (fills === 'part') {
    document.body.appendChild(document.createElement('h1')).hidden = true;
  }
  const { LazyArea } = await import('./lazy-area.tsx');
  const { lazyPart } = await import('./lazy-part.ts');
  const part = lazyPart(
    load ? { frontEnd: 'shell', load } : { frontEnd: 'careers', load: loadRemote },
  );
  const page = <LazyArea part={part} when={when} onMissing={onMissing} />;
  const container = document.body.appendChild(document.createElement('div'));
  if (html) {
    container.innerHTML = `<div data-area="${part.frontEnd}"><!--$-->${html}<!--/$--></div>`;
  }
  await act(async () => render(page, { container, hydrate: html !== undefined }));
  return page;
}

async function press(name: string) {
  await setupUser().click(screen.getByRole('button', { name }));
  await advanceTimers(0);
}

test('a loading message shows until the remote is loaded', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 500)),
  );
  await area();
  expect(loadRemote).toHaveBeenCalledTimes(1);
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await advanceTimers(500);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('status')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
});

test.each([
  ['a page', 'page', 1],
  ['a part of a page', 'part', 0],
] as const)('only a whole page reports that it is missing: %s', async (_, fills, times) => {
  loadRemote.mockRejectedValueOnce(new Error('down')).mockResolvedValue(MODULE);
  await area({ fills });
  expect(onMissing).toHaveBeenCalledTimes(times);
  await advanceTimers(1_000);
  expect(screen.getByText('Ten internships')).toBeTruthy();
  expect(onMissing).toHaveBeenCalledTimes(times);
});

test('a deferred part loads when it comes near the viewport', async () => {
  const view = fakeIntersectionObserver();
  loadRemote.mockResolvedValue(MODULE);
  await area({ when: 'near-viewport' });
  expect(loadRemote).not.toHaveBeenCalled();
  await view.show();
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
});

test('an unmounted area is no longer observed', async () => {
  const view = fakeIntersectionObserver();
  await area({ when: 'near-viewport' });
  expect(view.awaited()).toHaveLength(1);
  cleanup();
  expect(view.awaited()).toEqual([]);
});

test('without hydration an area keeps its HTML until loaded', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 500)),
  );
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML = '<div data-area="careers"><h1>Prerendered</h1><input aria-label="Name"></div>';
  const field = screen.getByLabelText('Name');
  const { LazyArea } = await import('./lazy-area.tsx');
  const { lazyPart } = await import('./lazy-part.ts');
  const part = lazyPart({ frontEnd: 'careers', load: loadRemote });
  await act(async () => render(<LazyArea part={part} />, { container: page }));
  expect(screen.getByRole('heading').textContent).toBe('Prerendered');
  expect(screen.getByLabelText('Name')).toBe(field);
  expect(screen.queryByRole('status')).toBeNull();
  await advanceTimers(500);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByLabelText('Name')).toBeNull();
});

test('a remote fails after three retries, and Retry loads it', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await advanceTimers(6_999);
  expect(screen.queryByRole('alert')).toBeNull();
  await advanceTimers(1);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.queryByText('Loading…')).toBeNull();
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'unreachable' }]);
  loadRemote.mockResolvedValue(MODULE);
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a remote fails after eight seconds, but may load later', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 9_000)),
  );
  await area();
  await advanceTimers(7_999);
  expect(screen.queryByRole('alert')).toBeNull();
  await advanceTimers(1);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'slow' }]);
  await advanceTimers(1_000);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('HTML stays when its remote fails, and Retry hydrates it', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ html: '<h1>Ten internships</h1>' });
  const rendered = screen.getByRole('heading');
  await advanceTimers(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading')).toBe(rendered);
  loadRemote.mockResolvedValue(MODULE);
  await press('Retry');
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('late hydration keeps focus and typed text', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(SEARCH), 500)),
  );
  await area({ html: '<input aria-label="Search">' });
  const field = screen.getByRole('textbox');
  await setupUser().type(field, 'door');
  expect(isReacts(field)).toBe(false);
  await advanceTimers(500);
  expect(isReacts(field)).toBe(true);
  expect(document.activeElement).toBe(field);
  expect(screen.getByRole('textbox')).toBe(field);
  expect((field as HTMLInputElement).value).toBe('door');
});

function isReacts(element: Element): boolean {
  return Object.keys(element).some(key => key.startsWith('__react'));
}

test('HTML of another build is rendered again without an error', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  document.head.innerHTML = '<meta name="remote:careers" content="older">';
  loadRemote.mockResolvedValue(MODULE);
  await area({ html: '<h1>Ten lamplighters</h1>' });
  await advanceTimers(0);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByText('Ten lamplighters')).toBeNull();
  // React reports no hydration mismatch.
  expect(complaints).not.toHaveBeenCalled();
});

test('a missing part reloads the page', async () => {
  network.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  await area();
  await advanceTimers(0);
  expect(reload).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(network.reports()).toEqual([]);
});

test('a part missing after a reload shows an error', async () => {
  network.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  sessionStorage.setItem('site:reloaded-for', JSON.stringify({ url: LOST.request }));
  await area();
  await advanceTimers(0);
  expect(reload).not.toHaveBeenCalled();
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'broken' }]);
});

test('a missing deferred part reloads the page only on Retry', async () => {
  const view = fakeIntersectionObserver();
  network.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  await area({ when: 'near-viewport' });
  await view.show();
  await advanceTimers(0);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(reload).not.toHaveBeenCalled();
  await press('Retry');
  expect(reload).toHaveBeenCalledTimes(1);
});

test('a remote that throws affects only its area until Retry', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area();
  await advanceTimers(0);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'broken' }]);
  await press('Retry');
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(network.reports()).toHaveLength(1);
  isCorrupt = false;
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(complaints).toHaveBeenCalled();
});

test('a page that is shown again loads nothing again', async () => {
  loadRemote.mockResolvedValue(MODULE);
  const page = await area();
  await advanceTimers(0);
  render(page);
  await advanceTimers(0);
  expect(screen.getAllByRole('heading')).toHaveLength(2);
  expect(loadRemote).toHaveBeenCalledTimes(1);
});

test('a lost shell chunk keeps its HTML and is reported', async () => {
  const load = vi.fn(() => Promise.reject<PartModule>(LOST));
  await area({ html: '<h1>Pioneering AI Security</h1>', load });
  const rendered = screen.getByRole('heading');
  await advanceTimers(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(network.reports()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
  load.mockResolvedValue({ default: () => <h1>Pioneering AI Security</h1> });
  await press('Retry');
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('returning to a failed page loads it again', async () => {
  const load = vi.fn(() => Promise.reject<PartModule>(LOST));
  const page = await area({ load });
  await advanceTimers(7_000);
  cleanup();
  load.mockResolvedValue({ default: () => <h1>Pioneering AI Security</h1> });
  render(page);
  await advanceTimers(0);
  expect(screen.getByRole('heading').textContent).toBe('Pioneering AI Security');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a failed page has an error title and heading', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ fills: 'page' });
  await advanceTimers(7_000);
  expect(document.title).toBe('This page did not load | Oculant');
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('This page did not load');
  loadRemote.mockResolvedValue({ default: CareersPage });
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.title).toBe('Careers | Oculant');
});

test('a page that throws has an error title and heading', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area({ fills: 'page', html: '<h1>Ten internships</h1>' });
  await advanceTimers(0);
  expect(document.title).toBe('This page did not load | Oculant');
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('This page did not load');
});

test('a prerendered page keeps its only heading on failure', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ html: '<h1>Ten internships</h1>' });
  await advanceTimers(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.title).toBe('');
});

test('Retry keeps the focus during and after a failed retry', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await advanceTimers(7_000);
  const button = screen.getByRole('button', { name: 'Retry' });
  await press('Retry');
  expect(screen.getByRole('button', { name: 'Trying again…' })).toBe(button);
  expect(button.getAttribute('aria-disabled')).toBe('true');
  expect(document.activeElement).toBe(button);
  const tries = loadRemote.mock.calls.length;
  await press('Trying again…');
  expect(loadRemote).toHaveBeenCalledTimes(tries);
  await advanceTimers(7_000);
  expect(screen.getByRole('button', { name: 'Retry' })).toBe(button);
  expect(button.getAttribute('aria-disabled')).toBe('false');
  expect(document.activeElement).toBe(button);
});

test('Retry keeps the focus when the part throws again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area();
  await advanceTimers(0);
  const button = screen.getByRole('button', { name: 'Retry' });
  await press('Retry');
  expect(screen.getByRole('button', { name: 'Retry' })).toBe(button);
  expect(document.activeElement).toBe(button);
});

test.each([
  ['page', 'h1'],
  ['part', '[data-area]'],
] as const)('once Retry loads a %s, the focus is at %s', async (fills, selector) => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ fills });
  await advanceTimers(7_000);
  loadRemote.mockResolvedValue(fills === 'page' ? MODULE : TEASERS);
  await press('Retry');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(document.activeElement).toBe(document.querySelector(selector));
});

test('a late page takes the focus of its error message', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 9_000)),
  );
  await area({ fills: 'page' });
  await advanceTimers(8_000);
  screen.getByRole('button', { name: 'Retry' }).focus();
  await advanceTimers(1_000);
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Ten internships' }));
});

test('a loaded part takes no focus from elsewhere', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await advanceTimers(7_000);
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 500)),
  );
  await press('Retry');
  screen.getByRole('button', { name: 'Trying again…' }).blur();
  await advanceTimers(500);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.activeElement).toBe(document.body);
});
