import { expect, test, vi } from 'vitest';
import { DEFAULT_RETRY_POLICY, retry } from './retry.ts';

function recorder() {
  const waits: number[] = [];
  return {
    waits,
    sleep: async (milliseconds: number) => {
      waits.push(milliseconds);
    },
  };
}

test('three retries, one second doubling (section 9)', async () => {
  const { waits, sleep } = recorder();
  let attempts = 0;
  const always = () => {
    attempts += 1;
    return Promise.reject(new Error('no network'));
  };
  await expect(retry(always, { ...DEFAULT_RETRY_POLICY, sleep })).rejects.toThrow('no network');
  expect(attempts).toBe(4);
  expect(waits).toEqual([1000, 2000, 4000]);
});

test('no wait is longer than thirty seconds (section 9)', async () => {
  const { waits, sleep } = recorder();
  const always = () => Promise.reject(new Error('no network'));
  await expect(retry(always, { ...DEFAULT_RETRY_POLICY, retries: 7, sleep })).rejects.toThrow();
  expect(waits.slice(-3)).toEqual([16_000, 30_000, 30_000]);
});

test('what succeeds is not asked for again, and what is not worth it neither', async () => {
  const { waits, sleep } = recorder();
  let attempts = 0;
  const second = async () => {
    attempts += 1;
    if (attempts < 2) {
      throw new Error('no network');
    }
    return 'there';
  };
  expect(await retry(second, { ...DEFAULT_RETRY_POLICY, sleep })).toBe('there');
  expect(waits).toEqual([1000]);
  const shouldRetry = () => false;
  const refused = () => Promise.reject(new Error('refused'));
  await expect(retry(refused, { ...DEFAULT_RETRY_POLICY, shouldRetry, sleep })).rejects.toThrow(
    'refused',
  );
  expect(waits).toHaveLength(1);
});

test('the waits pass on the clock', async () => {
  vi.useFakeTimers();
  const always = vi.fn(() => Promise.reject(new Error('no network')));
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

test('retries end at once, also during a delay, where they are called off', async () => {
  vi.useFakeTimers();
  const calledOff = new AbortController();
  const always = vi.fn(() => Promise.reject(new Error('no network')));
  const trying = expect(
    retry(always, { ...DEFAULT_RETRY_POLICY, signal: calledOff.signal }),
  ).rejects.toThrow('called off');
  await vi.advanceTimersByTimeAsync(500);
  calledOff.abort(new Error('called off'));
  await trying;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(always).toHaveBeenCalledTimes(1);
});

test('what is called off during an attempt is not waited for', async () => {
  const { waits, sleep } = recorder();
  const calledOff = new AbortController();
  const attempt = async () => {
    calledOff.abort(new Error('called off'));
    throw new Error('no network');
  };
  const trying = retry(attempt, { ...DEFAULT_RETRY_POLICY, sleep, signal: calledOff.signal });
  await expect(trying).rejects.toThrow('called off');
  expect(waits).toEqual([]);
});
