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

/** The bundler's error for a file that did not load. */
function chunkLoadError(request = FILE) {
  return Object.assign(new Error('Loading chunk about failed.'), { request });
}

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

test('an existing file is requested four times in seven seconds', async () => {
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

test('a successful retry returns its result', async () => {
  serverAnswers(200);
  const load = vi.fn().mockRejectedValueOnce(chunkLoadError()).mockResolvedValue('the page');
  const loading = loadChunkWithRetry(load);
  await advanceTimers(1_000);
  expect(await loading).toBe('the page');
});

test('the page reloads once for each missing file', () => {
  expect(reloadPageOnce(chunkLoadError())).toBe(true);
  expect(reloadPageOnce(chunkLoadError())).toBe(false);
  expect(reloadPageOnce(chunkLoadError(`${FILE}2`))).toBe(true);
  expect(reload).toHaveBeenCalledTimes(2);
});

test('without storage the page never reloads, to prevent a loop', () => {
  const forbidden = () => {
    throw new DOMException('Forbidden', 'SecurityError');
  };
  vi.stubGlobal('sessionStorage', { getItem: forbidden, setItem: forbidden });
  expect(reloadPageOnce(chunkLoadError())).toBe(false);
  expect(reload).not.toHaveBeenCalled();
});

test('a missing file is not retried', async () => {
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
])('a file with status %i is missing: %s', async (status, expected) => {
  serverAnswers(status);
  expect(await isChunkMissing(chunkLoadError())).toBe(expected);
});

test('without a network no file counts as missing', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  expect(await isChunkMissing(chunkLoadError())).toBe(false);
});

test.each([
  [200, true],
  [404, false],
  [503, false],
])('with status %i a file is served: %s', async (status, expected) => {
  const ask = serverAnswers(status);
  expect(await isChunkServed(chunkLoadError(), '/instead.js')).toBe(expected);
  expect(await isChunkServed(new Error('corrupt'), '/instead.js')).toBe(expected);
  expect(ask.mock.calls.map(([file]) => file)).toEqual([FILE, '/instead.js']);
});

test('the check for missing files times out after eight seconds', async () => {
  vi.useRealTimers();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  vi.stubGlobal('fetch', async (_: string, { signal }: RequestInit) => signal?.throwIfAborted());
  expect(await isChunkMissing(chunkLoadError())).toBe(false);
  expect(timeout).toHaveBeenCalledWith(8_000);
});

test('a file that timed out is not checked', async () => {
  const ask = serverAnswers(404);
  expect(await isChunkMissing(Object.assign(chunkLoadError(), { type: 'timeout' }))).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});

test('a failure without a file name sends no request', async () => {
  const ask = serverAnswers(404);
  expect(await isChunkMissing(new Error('corrupt'))).toBe(false);
  expect(await isChunkMissing('corrupt')).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});
