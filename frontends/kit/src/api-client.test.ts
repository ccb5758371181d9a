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

/** Uploads, and waits until the file is read. What comes of it is in an object: a promise would be waited for, too. */
async function upload(form: FormData, onProgress?: (part: number) => void) {
  const result = client.postMultipart('/api/career-application', form, {
    failureMessages: FAILURE_MESSAGES,
    ...(onProgress && { onProgress }),
  });
  await advanceTimers(0);
  return { result };
}

/** Has the page loaded anew: of what its scripts knew nothing is left. */
async function reload() {
  vi.resetModules();
  client = await import('./api-client.ts');
}

test('a form is posted as JSON under a key of its own', async () => {
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
  ['a success that says so', 200, STORED, { ok: true }],
  ['another success that says so', 202, STORED, { ok: true }],
  ['a success without a word', 200, {}, { ok: false, message: 'Refused.', fieldErrors: {} }],
  [
    'a success that says it is none',
    200,
    { success: false, message: 'Come back tomorrow.' },
    { ok: false, message: 'Come back tomorrow.', fieldErrors: {} },
  ],
  [
    'a success that says so in a string',
    200,
    { success: 'true' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  ['a redirection', 304, STORED, { ok: false, message: 'Refused.', fieldErrors: {} }],
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
    'a refusal with a message before its error',
    422,
    { success: false, error: 'invalid', message: 'Please check the marked fields.' },
    { ok: false, message: 'Please check the marked fields.', fieldErrors: {} },
  ],
  [
    'a refusal of fields',
    422,
    { success: false, error: 'Check.', fields: { name: 'Say your name.', email: 7 } },
    { ok: false, message: 'Check.', fieldErrors: { name: 'Say your name.' } },
  ],
  [
    'a refusal with fields of no use',
    422,
    { success: false, fields: 'name' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  [
    'a refusal with an empty sentence',
    400,
    { success: false, message: '' },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
  [
    'an error of the server',
    500,
    { success: false },
    { ok: false, message: 'Refused.', fieldErrors: {} },
  ],
])('%s is read by its status and by its body', async (_, status, body, expected) => {
  const result = send();
  await xhr.answer(status, body);
  expect(await result).toEqual(expected);
  expect(xhr.sent).toHaveLength(1);
});

test.each([
  ['a page', 200, '<!doctype html>'],
  ['nothing', 502, ''],
  ['a list', 200, '"yes"'],
  ['null', 200, 'null'],
])('an answer that is %s is not understood, and not asked for again', async (_, status, body) => {
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

test('a server that is not reached is asked four times, after one, two and four seconds', async () => {
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

test('all attempts of a submission have one key, and it ends with the first answer', async () => {
  const result = send();
  await xhr.breakOff();
  await advanceTimers(1000);
  await xhr.breakOff();
  await advanceTimers(2000);
  await xhr.answer(202, STORED);
  expect(await result).toEqual({ ok: true });
  expect(new Set(keysOf(xhr)).size).toBe(1);
});

test('what was never answered is sent under the same key when it is submitted again', async () => {
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
  ['an error of the server', 503, { success: false }],
  ['a limit that a retry reached', 429, { success: false }],
  ['an answer that is not understood', 200, '<!doctype html>'],
])('after %s the same form is sent under the same key', async (_, status, body) => {
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
])('once %s the same form is another submission', async (_, status, body) => {
  const form = message();
  send(form);
  await xhr.answer(status, body);
  send(form);
  const [first, second] = keysOf(xhr);
  expect(second).not.toBe(first);
});

test('a form that was changed is another submission', async () => {
  const form = message();
  send(form);
  await xhr.answer(503, { success: false });
  send({ ...form, message: 'Hello again' });
  const [first, second] = keysOf(xhr);
  expect(second).not.toBe(first);
});

test('a reload while a form is sent changes nothing: the same form has the same key, a changed one another', async () => {
  const form = message();
  send(form);
  await reload();
  send({ ...form, attribution: { ...ATTRIBUTION, utmSource: 'newspaper' } });
  send({ ...form, message: 'Hello again' });
  const [first, second, changed] = keysOf(xhr);
  expect(second).toBe(first);
  expect(changed).not.toBe(first);
});

test('after a reload a form that had been stored is another submission', async () => {
  const form = message();
  send(form);
  await xhr.answer(202, STORED);
  await reload();
  send(form);
  expect(new Set(keysOf(xhr)).size).toBe(2);
});

test('after a reload an application with the same file, chosen anew, has the same key', async () => {
  await upload(application('Asha', 'About me', 1));
  await reload();
  await upload(application('Asha', 'About me', 2));
  await upload(application('Asha', 'About us', 2));
  const [first, second, changed] = keysOf(xhr);
  expect(second).toBe(first);
  expect(changed).not.toBe(first);
});

test('what hangs when its page comes back from the back/forward cache can be sent again', async () => {
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

test('an attempt with JSON is given up after thirty seconds, and made again', async () => {
  send();
  await advanceTimers(29_999);
  expect(xhr.sent).toHaveLength(1);
  await advanceTimers(1 + 1000);
  expect(xhr.sent).toHaveLength(2);
});

test('an attempt with a file is given up after three minutes, and made again', async () => {
  await upload(application());
  await advanceTimers(179_999);
  expect(xhr.sent).toHaveLength(1);
  await advanceTimers(1 + 1000);
  expect(xhr.sent).toHaveLength(2);
});

test('a file is sent as the form holds it, under one key', async () => {
  const form = application();
  const { result } = await upload(form);
  expect(xhr.last().body).toBe(form);
  // The browser says it itself, with the boundary of the parts.
  expect(xhr.last().headers).not.toHaveProperty('Content-Type');
  await xhr.breakOff();
  await advanceTimers(1000);
  await xhr.answer(202, STORED);
  expect(await result).toEqual({ ok: true });
  const [first, second] = keysOf(xhr);
  expect(second).toBe(first);
});

test('another file under the same name is another submission', async () => {
  await upload(application('Ravi', 'About me'));
  await xhr.answer(503, { success: false });
  await upload(application('Ravi', 'About us'));
  expect(new Set(keysOf(xhr)).size).toBe(2);
});

test('an upload tells how much of it is sent', async () => {
  const fractions: number[] = [];
  await upload(application(), fraction => fractions.push(fraction));
  await xhr.receive(100, 400);
  await xhr.receive(400, 400);
  expect(fractions).toEqual([0.25, 1]);
});

test('what the visitor calls off ends at once, and is not tried again', async () => {
  const running = new AbortController();
  const result = send(message(), running.signal);
  running.abort();
  expect(await result).toMatchObject({ ok: false, isCancelled: true });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test('what the visitor calls off between two attempts ends at once', async () => {
  const running = new AbortController();
  const result = send(message(), running.signal);
  await xhr.breakOff();
  await advanceTimers(500);
  running.abort();
  expect(await result).toMatchObject({ ok: false, isCancelled: true });
  await advanceTimers(60_000);
  expect(xhr.sent).toHaveLength(1);
});

test('a key says by its version that it stands for one content alone, over plain HTTP as well', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  send();
  expect(keysOf(xhr)[0]).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
