// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../testing/fake-fetch.ts';
import { fakeFetch } from '../testing/fake-fetch.ts';
import { advanceTimers } from '../testing/fake-time.ts';
import type { PartModule, PartSource } from './lazy-part.ts';

const MODULE: PartModule = { default: () => null, version: 'ours' };
/** The bundler's error for a chunk of a remote. */
const LOST = Object.assign(new Error('Loading chunk failed.'), {
  request: '/remotes/careers/assets/careers-page.1234.js',
});

let network: FakeFetch;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // Modules keep the sent reports.
  vi.resetModules();
  network = fakeFetch();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

async function prepared(load: PartSource['load'], frontEnd: PartSource['frontEnd'] = 'careers') {
  const { lazyPart } = await import('./lazy-part.ts');
  const remote = lazyPart({ frontEnd, load });
  const steps: string[] = [];
  remote.subscribe(() => steps.push(remote.state()));
  return { remote, steps };
}

/** Marks the HTML as prerendered by this build of the remote. */
function renderedWith(version: string) {
  document.head.innerHTML = `<meta name="remote:careers" content="${version}">`;
}

function failing(failure: unknown) {
  return vi.fn(() => Promise.reject(failure));
}

test('a loaded module is ready and sends no report', async () => {
  const load = vi.fn(async () => MODULE);
  const { remote, steps } = await prepared(load);
  expect(remote.state()).toBe('idle');
  remote.start();
  await advanceTimers(60_000);
  expect(steps).toEqual(['loading', 'ready']);
  remote.start();
  remote.prefetch();
  expect(load).toHaveBeenCalledTimes(1);
  expect(network.reports()).toEqual([]);
});

test.each([
  ['loads', async () => MODULE, 1, undefined],
  ['fails', failing(LOST), 3, 'failed'],
] as const)(
  'a placeholder renders again only for trouble: module %s',
  async (_, load, renders, trouble) => {
    const { remote } = await prepared(load);
    const { useLoadTrouble } = await import('./lazy-part.ts');
    const render = vi.fn(() => useLoadTrouble(remote));
    const { result } = renderHook(render);
    await act(async () => {
      remote.start();
      await advanceTimers(60_000);
    });
    expect(result.current).toBe(trouble);
    expect(render).toHaveBeenCalledTimes(renders);
  },
);

test('a loading module is not requested twice', async () => {
  const load = vi.fn(() => new Promise<PartModule>(() => undefined));
  const { remote } = await prepared(load);
  remote.prefetch();
  remote.start();
  expect(load).toHaveBeenCalledTimes(1);
});

test('HTML of the same build is hydrated', async () => {
  renderedWith('ours');
  const { remote } = await prepared(async () => MODULE);
  remote.start();
  await advanceTimers(0);
  expect(remote.state()).toBe('ready');
});

test('HTML of another build is not hydrated', async () => {
  renderedWith('older');
  const { remote, steps } = await prepared(async () => MODULE);
  remote.start();
  await advanceTimers(0);
  expect(steps).toEqual(['loading', 'ready-mismatch']);
});

test.each([
  ['answers', 200, 'broken'],
  ['answers with an error', 503, 'unreachable'],
  ['does not answer', undefined, 'unreachable'],
] as const)('the report of a failure says whether the entry %s', async (_, status, reason) => {
  network.entryAnswers(status);
  const load = failing(new Error('corrupt'));
  const { remote, steps } = await prepared(load);
  remote.start();
  await advanceTimers(6_999);
  expect(steps).toEqual(['loading', 'retrying']);
  await advanceTimers(1);
  expect(steps).toEqual(['loading', 'retrying', 'failed']);
  expect(load).toHaveBeenCalledTimes(4);
  expect(network.reports()).toEqual([{ remote: 'careers', reason }]);
  await advanceTimers(60_000);
  expect(network.reports()).toHaveLength(1);
});

test.each([null, { version: 'ours' }, { default: 'a page', version: 'ours' }])(
  'a response that is no module fails: %o',
  async module => {
    network.entryAnswers(200);
    const { remote } = await prepared(async () => module as never);
    remote.start();
    await advanceTimers(7_000);
    expect(remote.state()).toBe('failed');
    expect(network.reports()).toEqual([{ remote: 'careers', reason: 'broken' }]);
  },
);

test('a slow remote is reported after eight seconds', async () => {
  const { promise, resolve } = Promise.withResolvers<PartModule>();
  const { remote, steps } = await prepared(() => promise);
  remote.start();
  await advanceTimers(7_999);
  expect(steps).toEqual(['loading']);
  expect(network.reports()).toEqual([]);
  await advanceTimers(1);
  expect(steps).toEqual(['loading', 'failed']);
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'slow' }]);
  resolve(MODULE);
  await advanceTimers(0);
  expect(steps).toEqual(['loading', 'failed', 'ready']);
});

test('Retry loads again, and the same failure is reported once', async () => {
  network.entryAnswers(200);
  const load = failing(new Error('corrupt'));
  const { remote, steps } = await prepared(load);
  remote.start();
  await advanceTimers(7_000);
  remote.start();
  await advanceTimers(7_000);
  expect(load).toHaveBeenCalledTimes(8);
  expect(network.reports()).toHaveLength(1);
  load.mockImplementation(async () => MODULE as never);
  remote.start();
  await advanceTimers(0);
  const failed = ['loading', 'retrying', 'failed'];
  expect(steps).toEqual([...failed, ...failed, 'loading', 'ready']);
});

test('a failure with another reason is reported, too', async () => {
  const load = failing(new Error('corrupt'));
  const { remote } = await prepared(load);
  remote.start();
  await advanceTimers(7_000);
  network.entryAnswers(200);
  remote.start();
  await advanceTimers(7_000);
  expect(network.reports()).toEqual([
    { remote: 'careers', reason: 'unreachable' },
    { remote: 'careers', reason: 'broken' },
  ]);
});

test('a failed part is not prefetched again', async () => {
  const load = failing(new Error('corrupt'));
  const { remote } = await prepared(load);
  remote.prefetch();
  await advanceTimers(7_000);
  remote.prefetch();
  expect(load).toHaveBeenCalledTimes(4);
  expect(remote.state()).toBe('failed');
});

test('a missing part is stale and reloads the page', async () => {
  network.partAnswers(404);
  const load = failing(LOST);
  const { remote, steps } = await prepared(load);
  remote.start();
  await advanceTimers(0);
  expect(steps).toEqual(['loading', 'retrying', 'stale']);
  expect(load).toHaveBeenCalledTimes(1);
  expect(reload).not.toHaveBeenCalled();
  remote.reloadPage();
  expect(reload).toHaveBeenCalledTimes(1);
  expect(network.reports()).toEqual([]);
});

test('a part missing after a reload is broken', async () => {
  network.partAnswers(404);
  const { remote, steps } = await prepared(failing(LOST));
  remote.start();
  await advanceTimers(0);
  remote.reloadPage();
  remote.reloadPage();
  expect(reload).toHaveBeenCalledTimes(1);
  expect(steps).toEqual(['loading', 'retrying', 'stale', 'failed']);
  expect(network.reports()).toEqual([{ remote: 'careers', reason: 'broken' }]);
});

test.each([
  ['shell', 200, 'broken'],
  ['shell', 503, 'unreachable'],
  ['careers', 503, 'unreachable'],
] as const)('a part of %s with status %i is %s', async (frontEnd, status, reason) => {
  network.entryAnswers(200);
  network.partAnswers(status);
  const { remote } = await prepared(failing(LOST), frontEnd);
  remote.start();
  await advanceTimers(7_000);
  expect(network.reports()).toEqual([{ remote: frontEnd, reason }]);
});

test('an unsubscribed listener is not called', async () => {
  const { remote } = await prepared(async () => MODULE);
  const heard = vi.fn();
  remote.subscribe(heard)();
  remote.start();
  await advanceTimers(0);
  expect(heard).not.toHaveBeenCalled();
});
