import { beforeEach, expect, test, vi } from 'vitest';
import { retry } from './retry.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

function failing() {
  return vi.fn(() => Promise.reject(new Error('no network')));
}

test('three retries, with delays that double from one second (section 9)', async () => {
  const always = failing();
  const trying = expect(retry(always)).rejects.toThrow('no network');
  for (const [wait, attempts] of [
    [999, 1],
    [1, 2],
    [1_999, 2],
    [1, 3],
    [3_999, 3],
    [1, 4],
    [60_000, 4],
  ] as const) {
    await vi.advanceTimersByTimeAsync(wait);
    expect(always).toHaveBeenCalledTimes(attempts);
  }
  await trying;
});

test('no delay is longer than thirty seconds (section 9)', async () => {
  const always = failing();
  const trying = expect(retry(always, { retries: 7 })).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(31_000);
  expect(always).toHaveBeenCalledTimes(6);
  for (const attempts of [7, 8]) {
    await vi.advanceTimersByTimeAsync(29_999);
    expect(always).toHaveBeenCalledTimes(attempts - 1);
    await vi.advanceTimersByTimeAsync(1);
    expect(always).toHaveBeenCalledTimes(attempts);
  }
  await trying;
});

test('a success ends the retries', async () => {
  const second = vi.fn().mockRejectedValueOnce(new Error('no network')).mockResolvedValue('there');
  const trying = retry(second);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await trying).toBe('there');
  expect(second).toHaveBeenCalledTimes(2);
});

test('a failure that is not retryable ends the retries', async () => {
  const refused = failing();
  const shouldRetry = () => false;
  const trying = expect(retry(refused, { shouldRetry })).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(60_000);
  await trying;
  expect(refused).toHaveBeenCalledTimes(1);
});

test('an abort during a delay ends the retries at once', async () => {
  const calledOff = new AbortController();
  const always = failing();
  const trying = expect(retry(always, { signal: calledOff.signal })).rejects.toThrow('called off');
  await vi.advanceTimersByTimeAsync(500);
  calledOff.abort(new Error('called off'));
  await trying;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(always).toHaveBeenCalledTimes(1);
});

test('an abort during an attempt ends the retries', async () => {
  const calledOff = new AbortController();
  const attempt = async () => {
    calledOff.abort(new Error('called off'));
    throw new Error('no network');
  };
  const trying = retry(attempt, { signal: calledOff.signal });
  await expect(trying).rejects.toThrow('called off');
});
