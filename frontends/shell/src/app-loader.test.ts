// @vitest-environment happy-dom
import { DEFAULT_RETRY_POLICY, LOAD_TIMEOUT_MS } from '@site/kit/retry.ts';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../../kit/testing/fake-fetch.ts';
import { fakeFetch } from '../../kit/testing/fake-fetch.ts';

const FILE = '/assets/main.1234.js';

let network: FakeFetch;
/** What the page asked for, first to last. Nothing is fetched. */
let asked: (HTMLScriptElement | HTMLLinkElement)[];
/** What the page waits for, by the name of the event. */
let awaited: Record<string, () => void>;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  network = fakeFetch();
  asked = [];
  awaited = {};
  // A page has one such script, a worker of tests would gather them.
  vi.stubGlobal('addEventListener', (event: string, listener: () => void) => {
    awaited[event] = listener;
  });
  document.head.innerHTML = `<meta name="app-script" content="${FILE}"><meta name="deferred-preload" content="/assets/about.js">`;
  vi.spyOn(document.head, 'append').mockImplementation((...added) => {
    asked.push(...(added as HTMLScriptElement[]));
  });
  await vi.importActual('./app-loader.js');
  awaited['DOMContentLoaded']?.();
});

/** The browser has all of the page. */
function loaded() {
  awaited['load']?.();
  return vi.advanceTimersByTimeAsync(100);
}

function tries(): string[] {
  return scripts().map(({ src }) => src.replace(location.origin, ''));
}

function scripts(): HTMLScriptElement[] {
  return asked.filter(element => element instanceof HTMLScriptElement);
}

function answer(script: HTMLScriptElement | undefined, as: 'load' | 'error') {
  script?.dispatchEvent(new Event(as));
  return vi.advanceTimersByTimeAsync(0);
}

test('a page that is painted asks for the application, and preloads its own part, once', async () => {
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS - 1000);
  expect(asked).toEqual([]);
  await loaded();
  await answer(scripts().at(-1), 'load');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toEqual([FILE]);
  expect(asked.filter(element => element instanceof HTMLLinkElement)).toHaveLength(1);
  expect(network.reports()).toEqual([]);
});

test('a page in which something hangs is waited for as long as anything is', async () => {
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS - 1);
  expect(tries()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(tries()).toEqual([FILE]);
});

test('so is a first picture that hangs while it is decoded', async () => {
  const picture = Object.assign(new Image(), { decode: () => new Promise(() => undefined) });
  picture.setAttribute('fetchpriority', 'high');
  document.body.append(picture);
  await loaded();
  expect(tries()).toEqual([]);
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS);
  expect(tries()).toEqual([FILE]);
});

test('an application that fails is asked for as often as anything is, and then the operators are told', async () => {
  await loaded();
  for (let retries = 0; retries < DEFAULT_RETRY_POLICY.retries; retries += 1) {
    await answer(scripts().at(-1), 'error');
    await vi.advanceTimersByTimeAsync(DEFAULT_RETRY_POLICY.initialDelayMs * 2 ** retries - 1);
    expect(tries()).toHaveLength(retries + 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(tries()).toHaveLength(retries + 2);
  }
  expect(tries()).toEqual([FILE, `${FILE}?1`, `${FILE}?2`, `${FILE}?3`]);
  expect(network.reports()).toEqual([]);
  await answer(scripts().at(-1), 'error');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toHaveLength(1 + DEFAULT_RETRY_POLICY.retries);
  expect(network.reports()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
});

test('one that hangs is asked for at another address, and told of when all do', async () => {
  await loaded();
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS + DEFAULT_RETRY_POLICY.initialDelayMs);
  expect(tries()).toEqual([FILE, `${FILE}?1`]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toEqual([FILE, `${FILE}?1`, `${FILE}?2`, `${FILE}?3`]);
  expect(network.reports()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
});

test.each(['waiting', 'asking'])(
  'one that comes late, while %s anew, is taken, and none besides',
  async state => {
    await loaded();
    await vi.advanceTimersByTimeAsync(
      LOAD_TIMEOUT_MS + (state === 'asking' ? DEFAULT_RETRY_POLICY.initialDelayMs : 0),
    );
    const all = scripts();
    await answer(all[0], 'load');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries()).toHaveLength(state === 'asking' ? 2 : 1);
    // In another document none runs any more.
    expect(all.every(script => script.ownerDocument !== document)).toBe(true);
    expect(network.reports()).toEqual([]);
  },
);
