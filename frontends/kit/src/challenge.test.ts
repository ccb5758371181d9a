// @vitest-environment happy-dom
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';
import { beforeEach, expect, test, vi } from 'vitest';
import type { FakeXhr } from '../testing/fake-xhr.ts';
import { fakeXhr, keysOf } from '../testing/fake-xhr.ts';
import { postJson } from './api-client.ts';
import { UNCHECKED } from './challenge.ts';

const HMAC_KEYS = { hmacSignatureSecret: 'challenges', hmacKeySignatureSecret: 'solutions' };
const STORED = { success: true };

let xhr: FakeXhr;
let forms = 0;
const told = vi.fn();

beforeEach(() => {
  xhr = fakeXhr();
  told.mockReset();
});

/** A challenge that takes `counter` attempts to solve. */
function challenge(counter: number) {
  const algorithm = 'PBKDF2/SHA-256';
  return createChallenge({ ...HMAC_KEYS, algorithm, cost: 1, counter, deriveKey });
}

async function answerWithChallenge(counter = 3) {
  const asked = { success: false, message: 'Work.', code: 'challenge' };
  await xhr.answer(429, { ...asked, challenge: await challenge(counter) });
}

function send(signal?: AbortSignal) {
  forms += 1;
  const form = { name: 'Asha', email: `asha-${forms}@example.org`, message: 'Hello' };
  return postJson('/api/contact', form, {
    failureMessages: { refused: 'Refused.', unreachable: 'Nobody there.' },
    onChallenge: told,
    ...(signal && { signal }),
  });
}

function sentTimes(times: number) {
  return vi.waitFor(() => expect(xhr.sent).toHaveLength(times));
}

test('a solved challenge resends the form under the same key', async () => {
  const result = send();
  expect(xhr.last().headers).not.toHaveProperty('Challenge-Solution');
  await answerWithChallenge();
  await sentTimes(2);
  const solved = JSON.parse(atob(xhr.last().headers['Challenge-Solution'] ?? ''));
  const { verified } = await verifySolution({ ...solved, ...HMAC_KEYS, deriveKey });
  expect(verified).toBe(true);
  expect(new Set(keysOf(xhr)).size).toBe(1);
  expect(xhr.sent[1]?.body).toBe(xhr.sent[0]?.body);
  await xhr.answer(200, STORED);
  expect(await result).toEqual({ ok: true });
  expect(told).toHaveBeenCalledOnce();
});

test('a missing or endless challenge shows our contact details', async () => {
  const refused = { ok: false, message: UNCHECKED, fieldErrors: {} };
  expect(UNCHECKED).toContain('hello@oculant.example');
  expect(UNCHECKED).toContain('+91 44 0000 0000');
  const withoutChallenge = send();
  await xhr.answer(429, { success: false, message: 'Work.', code: 'challenge' });
  expect(await withoutChallenge).toEqual(refused);

  const unending = send();
  for (let times = 2; times < 5; times += 1) {
    await answerWithChallenge();
    await sentTimes(times + 1);
  }
  await answerWithChallenge();
  expect(await unending).toEqual(refused);
});

test('an unsolvable challenge fails at once', async () => {
  const result = send();
  const unsolvable = { parameters: { keyPrefix: 'no hex' } };
  await xhr.answer(429, { success: false, code: 'challenge', challenge: unsolvable });
  expect(await result).toMatchObject({ ok: false, message: UNCHECKED });
  expect(told).toHaveBeenCalledOnce();
});

test('cancelling while a challenge is solved sends nothing more', async () => {
  const controller = new AbortController();
  const result = send(controller.signal);
  await answerWithChallenge(4_000_000_000);
  await vi.waitFor(() => expect(told).toHaveBeenCalled());
  controller.abort();
  expect(await result).toMatchObject({ ok: false, isCancelled: true });
  expect(xhr.sent).toHaveLength(1);
});
