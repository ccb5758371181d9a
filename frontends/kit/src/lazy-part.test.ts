// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../testing/fake-fetch.ts';
import { fakeFetch } from '../testing/fake-fetch.ts';
import { advanceTimers } from '../testing/fake-time.ts';
import type { PartModule, PartSource } from './lazy-part.ts';

const MODULE: PartModule = { default: () => null, version: 'ours' };
/** What the bundler throws where a part of a remote did not come. */
const LOST = Object.assign(new Error('Loading chunk failed.'), {
  request: '/remotes/careers/assets/careers-page.1234.js',
});

let network: FakeFetch;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // What was told to the operators is remembered for as long as the page is open.
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

/** The page's HTML was rendered with this build of the remote. */
function renderedWith(version: string) {
  document.head.innerHTML = `<meta name="remote:careers" content="${version}">`;
}

function failing(failure: unknown) {
  return vi.fn(() => Promise.reject(failure));
}

test('a module that comes is ready, and nobody is told of it', async () => {
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
  ['comes', async () => MODULE, 1, undefined],
  ['does not come', failing(LOST), 3, 'failed'],
] as const)(
  'where a module %s, what stands in its place renders again only for trouble',
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

test('a module that is on its way is not asked for twice', async () => {
  const load = vi.fn(() => new Promise<PartModule>(() => undefined));
  const { remote } = await prepared(load);
  remote.prefetch();
  remote.start();
  expect(load).toHaveBeenCalledTimes(1);
});

test('a page that was prerendered with the module’s build is hydrated', async () => {
  renderedWith('ours');
  const { remote } = await prepared(async () => MODULE);
  remote.start();
  await advanceTimers(0);
  expect(remote.state()).toBe('ready');
});

test('a module of another build than the page is shown anew', async () => {
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
] as const)(
  'a remote whose entry %s has failed after three retries, and operators learn why',
  async (_, status, reason) => {
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
  },
);

test.each([null, { version: 'ours' }, { default: 'a page', version: 'ours' }])(
  'what comes over the network and is no module has failed: %o',
  async module => {
    network.entryAnswers(200);
    const { remote } = await prepared(async () => module as never);
    remote.start();
    await advanceTimers(7_000);
    expect(remote.state()).toBe('failed');
    expect(network.reports()).toEqual([{ remote: 'careers', reason: 'broken' }]);
  },
);

test('after eight seconds a remote is said to be slow, and when it comes it is shown', async () => {
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

test('Retry starts again what has failed, and the same failure is told of once', async () => {
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

test('a failure of another kind is told of, too', async () => {
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

test('what has failed is not prefetched: that is for the area which shows it', async () => {
  const load = failing(new Error('corrupt'));
  const { remote } = await prepared(load);
  remote.prefetch();
  await advanceTimers(7_000);
  remote.prefetch();
  expect(load).toHaveBeenCalledTimes(4);
  expect(remote.state()).toBe('failed');
});

test('a part that is gone is not waited for, and the page is loaded in the new build', async () => {
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

test('a part that every build lacks is asked for in the new one once, and then said to be broken', async () => {
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
] as const)(
  'of a part of %s whose file is answered with %i, operators learn that it is %s',
  async (frontEnd, status, reason) => {
    network.entryAnswers(200);
    network.partAnswers(status);
    const { remote } = await prepared(failing(LOST), frontEnd);
    remote.start();
    await advanceTimers(7_000);
    expect(network.reports()).toEqual([{ remote: frontEnd, reason }]);
  },
);

test('who stops listening hears nothing more', async () => {
  const { remote } = await prepared(async () => MODULE);
  const heard = vi.fn();
  remote.subscribe(heard)();
  remote.start();
  await advanceTimers(0);
  expect(heard).not.toHaveBeenCalled();
});
