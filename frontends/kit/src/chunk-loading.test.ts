// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import {
  isChunkMissing,
  isChunkServed,
  loadChunkWithRetry,
  reloadPageOnce,
} from './chunk-loading.ts';

const FILE = 'https://oculant.example/assets/about.1234.js';

/** What the bundler throws where a file did not come. */
function chunkLoadError(request = FILE) {
  return Object.assign(new Error('Loading chunk about failed.'), { request });
}

/** The server's answer to whoever asks for a file's head. */
function serverAnswers(status: number) {
  const ask = vi.fn(async (_: string) => new Response(null, { status }));
  vi.stubGlobal('fetch', ask);
  return ask;
}

const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  reload.mockReset();
  vi.spyOn(location, 'reload').mockImplementation(reload);
});

test('a file that is there but did not come is asked for four times in seven seconds', async () => {
  const ask = serverAnswers(200);
  const load = vi.fn(() => Promise.reject(chunkLoadError()));
  const loading = expect(loadChunkWithRetry(load)).rejects.toThrow('Loading chunk about failed.');
  await advanceTimers(6_999);
  expect(load).toHaveBeenCalledTimes(3);
  await advanceTimers(1);
  await loading;
  expect(load).toHaveBeenCalledTimes(4);
  expect(ask).toHaveBeenCalledWith(FILE, expect.objectContaining({ method: 'HEAD' }));
  expect(reload).not.toHaveBeenCalled();
});

test('what comes at the second try is what is loaded', async () => {
  serverAnswers(200);
  const load = vi.fn().mockRejectedValueOnce(chunkLoadError()).mockResolvedValue('the page');
  const loading = loadChunkWithRetry(load);
  await advanceTimers(1_000);
  expect(await loading).toBe('the page');
});

test('another file that is gone loads the page again', () => {
  expect(reloadPageOnce(chunkLoadError())).toBe(true);
  expect(reloadPageOnce(chunkLoadError())).toBe(false);
  expect(reloadPageOnce(chunkLoadError(`${FILE}2`))).toBe(true);
  expect(reload).toHaveBeenCalledTimes(2);
});

test('where storage is forbidden the page is not loaded again: it might be again and again', () => {
  const forbidden = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  vi.stubGlobal('sessionStorage', { getItem: forbidden, setItem: forbidden });
  expect(reloadPageOnce(chunkLoadError())).toBe(false);
  expect(reload).not.toHaveBeenCalled();
});

test('for a file that is gone nobody waits', async () => {
  serverAnswers(404);
  const load = vi.fn(() => Promise.reject(chunkLoadError()));
  await expect(loadChunkWithRetry(load)).rejects.toThrow();
  expect(load).toHaveBeenCalledTimes(1);
  expect(reload).not.toHaveBeenCalled();
});

test.each([
  [404, true],
  [200, false],
  [503, false],
])('a file whose head is answered with %i is gone: %s', async (status, expected) => {
  serverAnswers(status);
  expect(await isChunkMissing(chunkLoadError())).toBe(expected);
});

test('without a network nothing is said to be gone', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  expect(await isChunkMissing(chunkLoadError())).toBe(false);
});

test.each([
  [200, true],
  [404, false],
  [503, false],
])(
  'a file whose head is answered with %i is served: %s, and so is one that is asked for instead',
  async (status, expected) => {
    const ask = serverAnswers(status);
    expect(await isChunkServed(chunkLoadError(), '/instead.js')).toBe(expected);
    expect(await isChunkServed(new Error('corrupt'), '/instead.js')).toBe(expected);
    expect(ask.mock.calls.map(([file]) => file)).toEqual([FILE, '/instead.js']);
  },
);

test('whether a file is there is not waited for longer than eight seconds', async () => {
  vi.useRealTimers();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => signal?.throwIfAborted());
  expect(await isChunkMissing(chunkLoadError())).toBe(false);
  expect(timeout).toHaveBeenCalledWith(8_000);
});

test('of a file that hung nobody asks whether it is gone', async () => {
  const ask = serverAnswers(404);
  expect(await isChunkMissing(Object.assign(chunkLoadError(), { type: 'timeout' }))).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});

test('a failure that names no file asks nobody', async () => {
  const ask = serverAnswers(404);
  expect(await isChunkMissing(new Error('corrupt'))).toBe(false);
  expect(await isChunkMissing('corrupt')).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});
