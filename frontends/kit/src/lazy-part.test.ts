// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeOperators } from '../testing/fake-operators.ts';
import { fakeOperators } from '../testing/fake-operators.ts';
import { pass } from '../testing/fake-time.ts';
import type { PartModule, PartSource } from './lazy-part.ts';

const MODULE: PartModule = { default: () => null, version: 'ours' };
/** What the bundler throws where a part of a remote did not come. */
const LOST = Object.assign(new Error('Loading chunk failed.'), {
  request: '/remotes/careers/assets/careers-page.1234.js',
});

let operators: FakeOperators;
const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  // What was told to the operators is remembered for as long as the page is open.
  vi.resetModules();
  operators = fakeOperators();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

async function prepared(load: PartSource['load'], frontEnd: PartSource['frontEnd'] = 'careers') {
  const { lazyPart } = await import('./lazy-part.ts');
  const remote = lazyPart({ frontEnd, load });
  const steps: string[] = [];
  remote.subscribe(() => steps.push(remote.progress()));
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
  expect(remote.progress()).toBe('idle');
  remote.start();
  await pass(60_000);
  expect(steps).toEqual(['loading', 'ready']);
  remote.start();
  remote.prefetch();
  expect(load).toHaveBeenCalledTimes(1);
  expect(operators.told()).toEqual([]);
});

test('a module that is on its way is not asked for twice', async () => {
  const load = vi.fn(() => new Promise<PartModule>(() => undefined));
  const { remote } = await prepared(load);
  remote.prefetch();
  remote.start();
  expect(load).toHaveBeenCalledTimes(1);
});

test('a module of the build that the page was rendered with is taken over', async () => {
  renderedWith('ours');
  const { remote } = await prepared(async () => MODULE);
  remote.start();
  await pass(0);
  expect(remote.progress()).toBe('ready');
});

test('a module of another build than the page is shown anew', async () => {
  renderedWith('older');
  const { remote, steps } = await prepared(async () => MODULE);
  remote.start();
  await pass(0);
  expect(steps).toEqual(['loading', 'ready-anew']);
});

test.each([
  ['answers', 200, 'broken'],
  ['answers with an error', 503, 'unreachable'],
  ['does not answer', undefined, 'unreachable'],
] as const)(
  'a remote whose entry %s has failed after three retries, and operators learn why',
  async (_, status, reason) => {
    operators.entryAnswers(status);
    const load = failing(new Error('corrupt'));
    const { remote, steps } = await prepared(load);
    remote.start();
    await pass(6_999);
    expect(steps).toEqual(['loading']);
    await pass(1);
    expect(steps).toEqual(['loading', 'failed']);
    expect(load).toHaveBeenCalledTimes(4);
    expect(operators.told()).toEqual([{ remote: 'careers', reason }]);
    await pass(60_000);
    expect(operators.told()).toHaveLength(1);
  },
);

test.each([null, { version: 'ours' }, { default: 'a page', version: 'ours' }])(
  'what comes over the network and is no module has failed: %o',
  async module => {
    operators.entryAnswers(200);
    const { remote } = await prepared(async () => module as never);
    remote.start();
    await pass(7_000);
    expect(remote.progress()).toBe('failed');
    expect(operators.told()).toEqual([{ remote: 'careers', reason: 'broken' }]);
  },
);

test('after eight seconds a remote is said to be slow, and when it comes it is shown', async () => {
  const { promise, resolve } = Promise.withResolvers<PartModule>();
  const { remote, steps } = await prepared(() => promise);
  remote.start();
  await pass(7_999);
  expect(steps).toEqual(['loading']);
  expect(operators.told()).toEqual([]);
  await pass(1);
  expect(steps).toEqual(['loading', 'failed']);
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'slow' }]);
  resolve(MODULE);
  await pass(0);
  expect(steps).toEqual(['loading', 'failed', 'ready']);
});

test('Retry starts again what has failed, and the same failure is told of once', async () => {
  operators.entryAnswers(200);
  const load = failing(new Error('corrupt'));
  const { remote, steps } = await prepared(load);
  remote.start();
  await pass(7_000);
  remote.start();
  await pass(7_000);
  expect(load).toHaveBeenCalledTimes(8);
  expect(operators.told()).toHaveLength(1);
  load.mockImplementation(async () => MODULE as never);
  remote.start();
  await pass(0);
  expect(steps).toEqual(['loading', 'failed', 'loading', 'failed', 'loading', 'ready']);
});

test('a failure of another kind is told of, too', async () => {
  const load = failing(new Error('corrupt'));
  const { remote } = await prepared(load);
  remote.start();
  await pass(7_000);
  operators.entryAnswers(200);
  remote.start();
  await pass(7_000);
  expect(operators.told()).toEqual([
    { remote: 'careers', reason: 'unreachable' },
    { remote: 'careers', reason: 'broken' },
  ]);
});

test('what has failed is not fetched ahead: that is for the area which shows it', async () => {
  const load = failing(new Error('corrupt'));
  const { remote } = await prepared(load);
  remote.prefetch();
  await pass(7_000);
  remote.prefetch();
  expect(load).toHaveBeenCalledTimes(4);
  expect(remote.progress()).toBe('failed');
});

test('a part that is gone is not waited for, and the page is loaded in the new build', async () => {
  operators.partAnswers(404);
  const load = failing(LOST);
  const { remote, steps } = await prepared(load);
  remote.start();
  await pass(0);
  expect(steps).toEqual(['loading', 'gone']);
  expect(load).toHaveBeenCalledTimes(1);
  expect(reload).not.toHaveBeenCalled();
  remote.startAnew();
  expect(reload).toHaveBeenCalledTimes(1);
  expect(operators.told()).toEqual([]);
});

test('a part that every build lacks is asked for in the new one once, and then said to be broken', async () => {
  operators.partAnswers(404);
  const { remote, steps } = await prepared(failing(LOST));
  remote.start();
  await pass(0);
  remote.startAnew();
  remote.startAnew();
  expect(reload).toHaveBeenCalledTimes(1);
  expect(steps).toEqual(['loading', 'gone', 'failed']);
  expect(operators.told()).toEqual([{ remote: 'careers', reason: 'broken' }]);
});

test.each([
  ['shell', 200, 'broken'],
  ['shell', 503, 'unreachable'],
  ['careers', 503, 'unreachable'],
] as const)(
  'of a part of %s whose file is answered with %i, operators learn that it is %s',
  async (frontEnd, status, reason) => {
    operators.entryAnswers(200);
    operators.partAnswers(status);
    const { remote } = await prepared(failing(LOST), frontEnd);
    remote.start();
    await pass(7_000);
    expect(operators.told()).toEqual([{ remote: frontEnd, reason }]);
  },
);

test('who stops listening hears nothing more', async () => {
  const { remote } = await prepared(async () => MODULE);
  const heard = vi.fn();
  remote.subscribe(heard)();
  remote.start();
  await pass(0);
  expect(heard).not.toHaveBeenCalled();
});
