import type { components } from './api.gen.ts';
import { forgetIdempotencyKey, idempotencyKeyOf } from './idempotency-keys.ts';
import { retry } from './retry.ts';

export type SubmissionResult =
  | { ok: true }
  | {
      ok: false;
      isCancelled?: boolean;
      message: string;
      fieldErrors: Readonly<Record<string, string>>;
    };

interface JsonForms {
  '/api/contact': components['schemas']['ContactForm'];
  '/api/newsletter': components['schemas']['NewsletterForm'];
  '/api/newsletter/confirm': components['schemas']['TokenForm'];
  '/api/newsletter/unsubscribe': components['schemas']['TokenForm'];
}

interface Options {
  /** `refused`: the server refuses without a message. `unreachable`: no response, or an unreadable one. */
  failureMessages: { refused: string; unreachable: string };
  signal?: AbortSignal;
  /** Called when the browser starts to solve a challenge. */
  onChallenge?: () => void;
}

/** Timeout of one attempt, not of the whole submission. */
const JSON_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 180_000;
const JSON_CONTENT = { 'Content-Type': 'application/json' };

/** Request headers. Those without a value are not sent. */
export type Headers = Readonly<Record<string, string | undefined>>;

export function postJson<Path extends keyof JsonForms>(
  path: Path,
  form: JsonForms[Path],
  options: Options,
): Promise<SubmissionResult> {
  const body = JSON.stringify(form);
  const { signal } = options;
  return submit(path, fingerprint(Object.entries(form)), options, headers =>
    send({ path, headers: { ...headers, ...JSON_CONTENT }, body, signal }, JSON_TIMEOUT_MS),
  );
}

/** `onProgress` gets the fraction that is sent, from 0 to 1. */
export async function postMultipart(
  path: '/api/career-application',
  form: FormData,
  options: Options & { onProgress?: (fraction: number) => void },
): Promise<SubmissionResult> {
  const { signal, onProgress } = options;
  const request = { path, body: form, signal, onProgress };
  const entries = await Promise.all(Array.from(form, identified));
  return submit(path, fingerprint(entries), options, headers =>
    send({ ...request, headers }, UPLOAD_TIMEOUT_MS),
  );
}

export interface HttpResponse {
  status: number;
  body: string;
}

/** The request got no response. The submission may have arrived all the same. */
class NetworkError extends Error {}

/**
 * Submits with retries under one idempotency key, so that the server stores the form once. Pressing the
 * button again after a failure is another attempt under the same key.
 */
async function submit(
  path: string,
  content: string,
  options: Options,
  attempt: (headers: Headers) => Promise<HttpResponse>,
): Promise<SubmissionResult> {
  const { failureMessages, signal, onChallenge } = options;
  const headers = {
    Accept: 'application/json',
    'Idempotency-Key': idempotencyKeyOf(path, content),
  };
  const shouldRetry = (failure: unknown) => failure instanceof NetworkError;
  const send = (more?: Headers) =>
    retry(() => attempt({ ...headers, ...more }), { shouldRetry, signal });
  try {
    let response = await send();
    if (isChallenge(response)) {
      onChallenge?.();
      const { solveAndSend } = await import(/* webpackChunkName: "challenge" */ './challenge.ts');
      response = await solveAndSend(response, isChallenge, send, signal);
    }
    const result = parseResponse(response, failureMessages.refused);
    if (isSettled(response.status)) {
      forgetIdempotencyKey(path, content);
    }
    return result;
  } catch {
    const isCancelled = signal?.aborted ?? false;
    return { ok: false, isCancelled, message: failureMessages.unreachable, fieldErrors: {} };
  }
}

/** Whether the response is final. After any other response, the server may have stored the form. */
function isSettled(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

/** Whether the server asks for proof of work, as it does in a flood of forms. */
function isChallenge({ status, body }: HttpResponse): boolean {
  return status === 429 && JSON.parse(body)['code'] === 'challenge';
}

/** Identity of a submission: all entries except the attribution, which a reload can change. */
function fingerprint(entries: [name: string, value: unknown][]): string {
  return JSON.stringify(entries.filter(([name]) => name !== 'attribution'));
}

/** Identifies a file by its content, because after a reload visitors may choose a copy with another date. */
async function identified([name, value]: [string, FormDataEntryValue]): Promise<[string, unknown]> {
  if (typeof value === 'string') {
    return [name, value];
  }
  // `crypto.subtle` is unavailable over plain HTTP.
  const content = crypto.subtle
    ? Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', await value.arrayBuffer())))
    : [value.size, value.lastModified];
  return [name, [value.name, content]];
}

interface Request {
  path: string;
  headers: Headers;
  body: string | FormData;
  signal?: AbortSignal | undefined;
  onProgress?: ((fraction: number) => void) | undefined;
}

/** Uses XMLHttpRequest, because fetch reports no upload progress. */
function send(
  { path, headers, body, signal, onProgress }: Request,
  timeoutMs: number,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.timeout = timeoutMs;
    for (const [name, value] of Object.entries(headers)) {
      if (value) {
        request.setRequestHeader(name, value);
      }
    }
    if (onProgress) {
      request.upload.onprogress = event => onProgress(event.loaded / event.total);
    }
    request.onload = () => resolve({ status: request.status, body: request.responseText });
    request.onerror = () => reject(new NetworkError());
    request.ontimeout = () => reject(new NetworkError());
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    // A page that returns from the back/forward cache never gets the response.
    const giveUp = ({ persisted }: PageTransitionEvent) => persisted && request.abort();
    addEventListener('pageshow', giveUp);
    request.onloadend = () => removeEventListener('pageshow', giveUp);
    request.send(body);
  });
}

/** A submission succeeds only if both status and body say so. */
function parseResponse({ status, body }: HttpResponse, refused: string): SubmissionResult {
  const answer: unknown = JSON.parse(body);
  if (!isRecord(answer)) {
    throw new TypeError('The answer is no object');
  }
  if (status >= 200 && status < 300 && answer['success'] === true) {
    return { ok: true };
  }
  const sentence = [answer['message'], answer['error']].find(text => typeof text === 'string');
  return { ok: false, message: sentence || refused, fieldErrors: fieldErrorsOf(answer['fields']) };
}

function fieldErrorsOf(fields: unknown): Record<string, string> {
  if (!isRecord(fields)) {
    return {};
  }
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
