// @vitest-environment happy-dom
import { DEFAULT_RETRY_POLICY, LOAD_TIMEOUT_MS } from '@site/kit/retry.ts';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeFetch } from '../../kit/testing/fake-fetch.ts';
import { fakeFetch } from '../../kit/testing/fake-fetch.ts';

const FILE = '/assets/main.1234.js';

let network: FakeFetch;
/** Requested elements, in order. Nothing is fetched. */
let asked: (HTMLScriptElement | HTMLLinkElement)[];
/** Listeners by event name. */
let awaited: Record<string, () => void>;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  network = fakeFetch();
  asked = [];
  awaited = {};
  // Otherwise listeners of earlier tests stay in the worker.
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

test('a painted page loads the application and preloads its chunk', async () => {
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS - 1000);
  expect(asked).toEqual([]);
  await loaded();
  await answer(scripts().at(-1), 'load');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toEqual([FILE]);
  expect(asked.filter(element => element instanceof HTMLLinkElement)).toHaveLength(1);
  expect(network.reports()).toEqual([]);
});

test('a page that never finishes loading starts after the timeout', async () => {
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS - 1);
  expect(tries()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(tries()).toEqual([FILE]);
});

test('a picture that never decodes delays only until the timeout', async () => {
  const picture = Object.assign(new Image(), { decode: () => new Promise(() => undefined) });
  picture.setAttribute('fetchpriority', 'high');
  document.body.append(picture);
  await loaded();
  expect(tries()).toEqual([]);
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS);
  expect(tries()).toEqual([FILE]);
});

test('a failing application is retried, then reported', async () => {
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

test('a hanging application is retried at another URL, then reported', async () => {
  await loaded();
  await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS + DEFAULT_RETRY_POLICY.initialDelayMs);
  expect(tries()).toEqual([FILE, `${FILE}?1`]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toEqual([FILE, `${FILE}?1`, `${FILE}?2`, `${FILE}?3`]);
  expect(network.reports()).toEqual([{ remote: 'shell', reason: 'unreachable' }]);
});

test.each(['waiting', 'asking'])('a late application wins over its retries (%s)', async state => {
  await loaded();
  await vi.advanceTimersByTimeAsync(
    LOAD_TIMEOUT_MS + (state === 'asking' ? DEFAULT_RETRY_POLICY.initialDelayMs : 0),
  );
  const all = scripts();
  await answer(all[0], 'load');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries()).toHaveLength(state === 'asking' ? 2 : 1);
  // Scripts in another document do not run.
  expect(all.every(script => script.ownerDocument !== document)).toBe(true);
  expect(network.reports()).toEqual([]);
});
