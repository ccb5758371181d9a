// @vitest-environment happy-dom
import { act } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { advanceTimers } from '../testing/fake-time.ts';
import type { FakeXhr } from '../testing/fake-xhr.ts';
import { fakeXhr, keysOf } from '../testing/fake-xhr.ts';
import type { components } from './api.gen.ts';
import { attribution } from './attribution.ts';

const FAILURE_MESSAGES = { refused: 'Refused.', unreachable: 'Nobody there.' };
const STORED = { success: true };
const ATTRIBUTION = attribution();

let client: typeof import('./api-client.ts');
let xhr: FakeXhr;
let forms = 0;

beforeEach(async () => {
  client = await import('./api-client.ts');
  vi.useFakeTimers();
  xhr = fakeXhr();
});

/** A form that no other test has sent. */
function message(): components['schemas']['ContactForm'] {
  forms += 1;
  const email = `asha-${forms}@example.com`;
  return { name: 'Asha', email, message: 'Hello', website: '', attribution: null };
}

function send(form = message(), signal?: AbortSignal) {
  return client.postJson('/api/contact', form, {
    failureMessages: FAILURE_MESSAGES,
    ...(signal && { signal }),
  });
}

function application(name = message().email, content = 'About me', lastModified = 1) {
  const form = new FormData();
  form.append('name', name);
  form.append('attribution', JSON.stringify({ page: `/careers/${lastModified}` }));
  form.append('resume', new File([content], 'resume.pdf', { lastModified }));
  return form;
}

/** Waits until the file is read. The object keeps `await upload(…)` from also awaiting the response. */
async function upload(form: FormData, onProgress?: (part: number) => void) {
  const result = client.postMultipart('/api/career-application', form, {
    failureMessages: FAILURE_MESSAGES,
    ...(onProgress && { onProgress }),
  });
  await advanceTimers(0);
  return { result };
}

/** Simulates a reload, which loses the state of modules. */
async function reload() {
  vi.resetModules();
  client = await import('./api-client.ts');
}

test('a form is posted as JSON with an idempotency key', async () => {
  const form = message();
  const result = send(form);
  const { method, path, body, headers } = xhr.last();
  expect([method, path]).toEqual(['POST', '/api/contact']);
  expect(JSON.parse(String(body))).toEqual(form);
  expect(headers).toEqual({
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'Idempotency-Key': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  });
  await xhr.answer(202, STORED);
  expect(await result).toEqual({ ok: true });
});

test.each([
  ['status 200 with success', 200, STORED, { ok: true }],
  ['status 202 with success', 202, STORED, { ok: true }],
  ['an empty success', 200, {}, { ok: false, message: 'Refused.', fieldErrors: {} }],
  [
    'status 200 without success',
    200,
    { success: false, message: 'Come back tomorrow.' },
    { ok: false, message: 'Come back tomorrow.', fieldErrors: {} },
  ],
  [
    'a success given as a string',
    200,
    { success: 'true' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  ['a redirect', 304, STORED, { ok: false, message: 'Refused.', fieldErrors: {} }],
  [
    'a refusal that claims success',
    400,
    STORED,
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  [
    'a refusal with an error',
    429,
    { success: false, error: 'Too many.' },
    { ok: false, message: 'Too many.', fieldErrors: {} },
  ],
  [
    'a refusal with a message and an error',
    422,
    { success: false, error: 'invalid', message: 'Please check the marked fields.' },
    { ok: false, message: 'Please check the marked fields.', fieldErrors: {} },
  ],
  [
    'a refusal with field errors',
    422,
    { success: false, error: 'Check.', fields: { name: 'Say your name.', email: 7 } },
    { ok: false, message: 'Check.', fieldErrors: { name: 'Say your name.' } },
  ],
  [
    'a refusal with malformed field errors',
    422,
    { success: false, fields: 'name' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  [
    'a refusal with an empty message',
    400,
    { success: false, message: '' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  ['a server error', 500, { success: false }, { ok: false, message: 'Refused.', fieldErrors: {} }],
])('%s is judged by status and body', async (_, status, body, expected) => {
  const result = send();
  await xhr.answer(status, body);
  expect(await result).toEqual(expected);
  expect(xhr.sent).toHaveLength(1);
});

test.each([
  ['HTML', 200, '<!doctype html>'],
  ['empty', 502, ''],
  ['a string', 200, '"yes"'],
  ['null', 200, 'null'],
])('a response that is %s fails without a retry', async (_, status, body) => {
  const result = send();
  await xhr.answer(status, body);
  expect(await result).toEqual({
    ok: false,
    isCancelled: false,
    message: 'Nobody there.',
    fieldErrors: {},
  });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test('network failures are retried after 1, 2 and 4 s', async () => {
  const result = send();
  for (const wait of [1000, 2000, 4000]) {
    await xhr.breakOff();
    const before = xhr.sent.length;
    await advanceTimers(wait - 1);
    expect(xhr.sent).toHaveLength(before);
    await advanceTimers(1);
    expect(xhr.sent).toHaveLength(before + 1);
  }
  await xhr.breakOff();
  expect(await result).toEqual({
    ok: false,
    isCancelled: false,
    message: 'Nobody there.',
    fieldErrors: {},
  });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(4);
});

test('all attempts of a submission share one key', async () => {
  const result = send();
  await xhr.breakOff();
  await advanceTimers(1000);
  await xhr.breakOff();
  await advanceTimers(2000);
  await xhr.answer(202, STORED);
  expect(await result).toEqual({ ok: true });
  expect(new Set(keysOf(xhr)).size).toBe(1);
});

test('submitting again after no response keeps the key', async () => {
  const form = message();
  const result = send(form);
  for (const wait of [1000, 2000, 4000, 0]) {
    await xhr.breakOff();
    await advanceTimers(wait);
  }
  await result;
  send(form);
  expect(xhr.sent).toHaveLength(5);
  expect(new Set(keysOf(xhr)).size).toBe(1);
});

test.each([
  ['a server error', 503, { success: false }],
  ['a rate limit', 429, { success: false }],
  ['an unreadable response', 200, '<!doctype html>'],
])('after %s the same form keeps its key', async (_, status, body) => {
  const form = message();
  send(form);
  await xhr.answer(status, body);
  send(form);
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test.each([
  ['it was stored', 202, STORED],
  ['it was refused', 422, { success: false }],
])('once %s, the same form gets a new key', async (_, status, body) => {
  const form = message();
  send(form);
  await xhr.answer(status, body);
  send(form);
  const [first, second] = keysOf(xhr);
  expect(second).not.toBe(first);
});

test('a changed form gets a new key', async () => {
  const form = message();
  send(form);
  await xhr.answer(503, { success: false });
  send({ ...form, message: 'Hello again' });
  const [first, second] = keysOf(xhr);
  expect(second).not.toBe(first);
});

test('after a reload an unanswered form keeps its key', async () => {
  const form = message();
  send(form);
  await reload();
  send({ ...form, attribution: { ...ATTRIBUTION, utmSource: 'newspaper' } });
  send({ ...form, message: 'Hello again' });
  const [first, second, changed] = keysOf(xhr);
  expect(second).toBe(first);
  expect(changed).not.toBe(first);
});

test('after a reload a stored form gets a new key', async () => {
  const form = message();
  send(form);
  await xhr.answer(202, STORED);
  await reload();
  send(form);
  expect(new Set(keysOf(xhr)).size).toBe(2);
});

test('after a reload the same file keeps its key', async () => {
  await upload(application('Asha', 'About me', 1));
  await reload();
  await upload(application('Asha', 'About me', 2));
  await upload(application('Asha', 'About us', 2));
  const [first, second, changed] = keysOf(xhr);
  expect(second).toBe(first);
  expect(changed).not.toBe(first);
});

test('a request lost to the back/forward cache can be repeated', async () => {
  const form = message();
  const result = send(form);
  await act(async () => {
    dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  });
  expect(await result).toMatchObject({ ok: false, isCancelled: false, message: 'Nobody there.' });
  send(form);
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('a JSON request times out after 30 s and retries', async () => {
  send();
  await advanceTimers(29_999);
  expect(xhr.sent).toHaveLength(1);
  await advanceTimers(1 + 1000);
  expect(xhr.sent).toHaveLength(2);
});

test('an upload times out after three minutes and retries', async () => {
  await upload(application());
  await advanceTimers(179_999);
  expect(xhr.sent).toHaveLength(1);
  await advanceTimers(1 + 1000);
  expect(xhr.sent).toHaveLength(2);
});

test('an upload sends the form unchanged under one key', async () => {
  const form = application();
  const { result } = await upload(form);
  expect(xhr.last().body).toBe(form);
  // The browser sets this header, with the boundary of the parts.
  expect(xhr.last().headers).not.toHaveProperty('Content-Type');
  await xhr.breakOff();
  await advanceTimers(1000);
  await xhr.answer(202, STORED);
  expect(await result).toEqual({ ok: true });
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('another file with the same name gets a new key', async () => {
  await upload(application('Ravi', 'About me'));
  await xhr.answer(503, { success: false });
  await upload(application('Ravi', 'About us'));
  expect(new Set(keysOf(xhr)).size).toBe(2);
});

test('an upload reports its progress', async () => {
  const fractions: number[] = [];
  await upload(application(), fraction => fractions.push(fraction));
  await xhr.receive(100, 400);
  await xhr.receive(400, 400);
  expect(fractions).toEqual([0.25, 1]);
});

test('cancelling an attempt ends the submission without a retry', async () => {
  const running = new AbortController();
  const result = send(message(), running.signal);
  running.abort();
  expect(await result).toMatchObject({ ok: false, isCancelled: true });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test('cancelling between two attempts ends the submission at once', async () => {
  const running = new AbortController();
  const result = send(message(), running.signal);
  await xhr.breakOff();
  await advanceTimers(500);
  running.abort();
  expect(await result).toMatchObject({ ok: false, isCancelled: true });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test('keys are UUIDs of version 8, even over plain HTTP', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  send();
  expect(keysOf(xhr)[0]).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
