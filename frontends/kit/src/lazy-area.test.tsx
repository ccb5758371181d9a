// @vitest-environment happy-dom
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeOperators } from '../testing/fake-operators.ts';
import { fakeOperators } from '../testing/fake-operators.ts';
import { pass } from '../testing/fake-time.ts';
import { fakeView } from '../testing/fake-view.ts';
import type { PartModule } from './lazy-part.ts';

const loadRemote = vi.fn<() => Promise<PartModule>>();

const FAILED = 'This part of the site did not load';
const LOST = Object.assign(new Error('Loading chunk failed.'), { request: '/remotes/part.js' });
const MODULE = { default: () => <h1>Ten internships</h1>, version: 'ours' };
const TEASERS = { default: () => <h2>Latest Insights</h2>, version: 'ours' };

let isCorrupt = false;
function Corrupt() {
  if (isCorrupt) {
    throw new Error('corrupt');
  }
  return <h1>Ten internships</h1>;
}

let operators: FakeOperators;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // How far a remote is, and what was told of it, is kept for as long as the page is open.
  vi.resetModules();
  operators = fakeOperators();
  loadRemote.mockReset();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

interface Options {
  when?: 'now' | 'near';
  /** Whether the rest of the page has a heading. */
  fills?: 'page' | 'part';
  /** What was rendered ahead of time. */
  html?: string;
  /** Where a part of the shell comes from; without it, the careers page fills the area. */
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
  const page = <LazyArea part={part} when={when} />;
  const container = document.body.appendChild(document.createElement('div'));
  if (html) {
    container.innerHTML = `<div data-area="${part.frontEnd}"><!--$-->${html}<!--/$--></div>`;
  }
  await act(async () => render(page, { container, hydrate: html !== undefined }));
  return page;
}

async function press(name: string) {
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await user.click(screen.getByRole('button', { name }));
  await pass(0);
}

test('while a remote is on its way it is said to be loading, and then it is shown', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 500)),
  );
  await area();
  expect(loadRemote).toHaveBeenCalledTimes(1);
  expect(screen.getByRole('status').textContent).toBe('Loading…');
  await pass(500);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('status')).toBeNull();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what may come later is asked for when it comes near the view', async () => {
  const view = fakeView();
  loadRemote.mockResolvedValue(MODULE);
  await area({ when: 'near' });
  expect(loadRemote).not.toHaveBeenCalled();
  await view.show();
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
});

test('what is no longer on the page is no longer waited for', async () => {
  const view = fakeView();
  await area({ when: 'near' });
  expect(view.awaited()).toHaveLength(1);
  cleanup();
  expect(view.awaited()).toEqual([]);
});

test('a remote that does not come is said to be missing after three retries, and Retry brings it', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await pass(6_999);
  expect(screen.queryByRole('alert')).toBeNull();
  await pass(1);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.queryByText('Loading…')).toBeNull();
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'unreachable' }]);
  loadRemote.mockResolvedValue(MODULE);
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('after eight seconds a remote is said not to have come, and then it is shown all the same', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 9_000)),
  );
  await area();
  await pass(7_999);
  expect(screen.queryByRole('alert')).toBeNull();
  await pass(1);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'slow' }]);
  await pass(1_000);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what was rendered ahead of time is read while its remote fails, and is taken over after Retry', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ html: '<h1>Ten internships</h1>' });
  const rendered = screen.getByRole('heading');
  await pass(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading')).toBe(rendered);
  loadRemote.mockResolvedValue(MODULE);
  await press('Retry');
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('what was rendered ahead of time by another build is shown anew, without a word', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  document.head.innerHTML = '<meta name="remote:careers" content="older">';
  loadRemote.mockResolvedValue(MODULE);
  await area({ html: '<h1>Ten lamplighters</h1>' });
  await pass(0);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(screen.queryByText('Ten lamplighters')).toBeNull();
  // React took nothing over that does not fit.
  expect(complaints).not.toHaveBeenCalled();
});

test('for a part that is gone the page is loaded again in the new build', async () => {
  operators.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  await area();
  await pass(0);
  expect(reload).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole('alert')).toBeNull();
  expect(operators.told()).toEqual([]);
});

test('a part that the new build lacks, too, is said to be missing', async () => {
  operators.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  sessionStorage.setItem('site:reloaded-for', LOST.request);
  await area();
  await pass(0);
  expect(reload).not.toHaveBeenCalled();
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'broken' }]);
});

test('for a part that is gone and that nobody came for, the page is loaded again on Retry only', async () => {
  const view = fakeView();
  operators.partAnswers(404);
  loadRemote.mockRejectedValue(LOST);
  await area({ when: 'near' });
  await view.show();
  await pass(0);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(reload).not.toHaveBeenCalled();
  await press('Retry');
  expect(reload).toHaveBeenCalledTimes(1);
});

test('a remote that throws while it is shown costs only its area, and Retry shows it again', async () => {
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area();
  await pass(0);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'broken' }]);
  await press('Retry');
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(operators.told()).toHaveLength(1);
  isCorrupt = false;
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(complaints).toHaveBeenCalled();
});

test('a page that is shown a second time asks for nothing a second time', async () => {
  loadRemote.mockResolvedValue(MODULE);
  const page = await area();
  await pass(0);
  render(page);
  await pass(0);
  expect(screen.getAllByRole('heading')).toHaveLength(2);
  expect(loadRemote).toHaveBeenCalledTimes(1);
});

test('a lost chunk of the shell leaves the HTML that is there, is told to the operators, and comes by Retry', async () => {
  const load = vi.fn(() => Promise.reject<PartModule>(LOST));
  await area({ html: '<h1>Pioneering AI Security</h1>', load });
  const rendered = screen.getByRole('heading');
  await pass(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(operators.told()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
  load.mockResolvedValue({ default: () => <h1>Pioneering AI Security</h1> });
  await press('Retry');
  expect(screen.getByRole('heading')).toBe(rendered);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a page of the shell that failed is asked for again when it is gone to again', async () => {
  const load = vi.fn(() => Promise.reject<PartModule>(LOST));
  const page = await area({ load });
  await pass(7_000);
  cleanup();
  load.mockResolvedValue({ default: () => <h1>Pioneering AI Security</h1> });
  render(page);
  await pass(0);
  expect(screen.getByRole('heading').textContent).toBe('Pioneering AI Security');
  expect(screen.queryByRole('alert')).toBeNull();
});

test('a page that does not come has a title and a heading of its own, which go once it is there', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ fills: 'page' });
  await pass(7_000);
  expect(document.title).toBe('This page did not load | Oculant');
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('This page did not load');
  loadRemote.mockResolvedValue(MODULE);
  await press('Retry');
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.title).toBe('');
});

test('a page that throws has a title and a heading of its own', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area({ fills: 'page', html: '<h1>Ten internships</h1>' });
  await pass(0);
  expect(document.title).toBe('This page did not load | Oculant');
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('This page did not load');
  isCorrupt = false;
});

test('a page whose HTML is there keeps its one heading while its part fails', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ html: '<h1>Ten internships</h1>' });
  await pass(7_000);
  expect(screen.getByRole('alert').textContent).toContain(FAILED);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.title).toBe('');
});

test('whoever presses Retry keeps the focus while it is tried again, and when that fails', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await pass(7_000);
  const button = screen.getByRole('button', { name: 'Retry' });
  await press('Retry');
  expect(screen.getByRole('button', { name: 'Trying again…' })).toBe(button);
  expect(button.getAttribute('aria-disabled')).toBe('true');
  expect(document.activeElement).toBe(button);
  const tries = loadRemote.mock.calls.length;
  await press('Trying again…');
  expect(loadRemote).toHaveBeenCalledTimes(tries);
  await pass(7_000);
  expect(screen.getByRole('button', { name: 'Retry' })).toBe(button);
  expect(button.getAttribute('aria-disabled')).toBe('false');
  expect(document.activeElement).toBe(button);
});

test('whoever presses Retry keeps the focus when what is shown throws again', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  isCorrupt = true;
  loadRemote.mockResolvedValue({ default: Corrupt, version: 'ours' });
  await area();
  await pass(0);
  const button = screen.getByRole('button', { name: 'Retry' });
  await press('Retry');
  expect(screen.getByRole('button', { name: 'Retry' })).toBe(button);
  expect(document.activeElement).toBe(button);
  isCorrupt = false;
});

test.each([
  ['page', 'h1'],
  ['part', '[data-area]'],
] as const)('once a %s is there after Retry, the focus is at its %s', async (fills, selector) => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area({ fills });
  await pass(7_000);
  loadRemote.mockResolvedValue(fills === 'page' ? MODULE : TEASERS);
  await press('Retry');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(document.activeElement).toBe(document.querySelector(selector));
});

test('a page that comes late after all has the focus of what said that it does not', async () => {
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 9_000)),
  );
  await area({ fills: 'page' });
  await pass(8_000);
  screen.getByRole('button', { name: 'Retry' }).focus();
  await pass(1_000);
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Ten internships' }));
});

test('whoever is elsewhere when a part comes stays there', async () => {
  loadRemote.mockRejectedValue(new Error('down'));
  await area();
  await pass(7_000);
  loadRemote.mockImplementation(
    () => new Promise(resolve => setTimeout(() => resolve(MODULE), 500)),
  );
  await press('Retry');
  screen.getByRole('button', { name: 'Trying again…' }).blur();
  await pass(500);
  expect(screen.getByRole('heading').textContent).toBe('Ten internships');
  expect(document.activeElement).toBe(document.body);
});
