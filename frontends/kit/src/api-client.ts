import type { components } from './api.gen.ts';
import { forgetIdempotencyKey, idempotencyKeyOf } from './idempotency-keys.ts';
import { retry } from './retry.ts';

/** Result of a submission. */
export type SubmissionResult =
  | { ok: true }
  | {
      ok: false;
      /** Whether the visitor called it off. */
      isCancelled?: boolean;
      /** A sentence for the visitor. */
      message: string;
      /** Validation errors, by the field's name. */
      fieldErrors: Readonly<Record<string, string>>;
    };

/** The bodies that the API takes as JSON. */
interface JsonForms {
  '/api/contact': components['schemas']['ContactForm'];
  '/api/newsletter': components['schemas']['NewsletterForm'];
  '/api/newsletter/confirm': components['schemas']['TokenForm'];
  '/api/newsletter/unsubscribe': components['schemas']['TokenForm'];
}

interface Options {
  /**
   * Error messages where the server gives none: it refused; or it was not reached, or its answer was not understood, and why
   * is nothing that a visitor could read.
   */
  failureMessages: { refused: string; unreachable: string };
  /** Calls the submission off. */
  signal?: AbortSignal;
  /** Told when the browser begins to solve a challenge. */
  onChallenge?: () => void;
}

/** Timeout of one attempt with a JSON body. */
const JSON_TIMEOUT_MS = 30_000;
/** Timeout of one attempt with a file. */
const UPLOAD_TIMEOUT_MS = 180_000;
const JSON_CONTENT = { 'Content-Type': 'application/json' };

/** Headers of a request, but for those without a value. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** Submits a form as JSON. */
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

/** Submits a form with a file. `onProgress` is told the fraction of it, from 0 to 1, that is sent. */
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

/** Response of the API. */
export interface HttpResponse {
  status: number;
  body: string;
}

/** The server was not reached; nobody knows whether the submission arrived. */
class NetworkError extends Error {}

/**
 * Submits with retries under one idempotency key, so that the server stores it once. A visitor who presses the button
 * again after a failure makes another attempt, not another submission.
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

/** Whether the answer settles a submission. After a timeout, a limit or a server's error an earlier attempt may be stored. */
function isSettled(status: number): boolean {
  return status < 500 && status !== 408 && status !== 429;
}

/** Whether the server, in a flood of forms, asks for work before it takes one. The code for it is loaded with the first. */
function isChallenge({ status, body }: HttpResponse): boolean {
  return status === 429 && JSON.parse(body)['code'] === 'challenge';
}

/** What tells a submission from others: all that was entered, and not how its visitor came to the form. */
function fingerprint(entries: [name: string, value: unknown][]): string {
  return JSON.stringify(entries.filter(([name]) => name !== 'attribution'));
}

/** A form's entry with a file's content in its place: after a reload it is chosen again, maybe as a copy of another date. */
async function identified([name, value]: [string, FormDataEntryValue]): Promise<[string, unknown]> {
  if (typeof value === 'string') {
    return [name, value];
  }
  // Over plain HTTP browsers compute no digest.
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

/** XMLHttpRequest, because fetch tells nothing of an upload's progress. */
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
    // A page that comes back from the back/forward cache gets no answer any more.
    const giveUp = ({ persisted }: PageTransitionEvent) => persisted && request.abort();
    addEventListener('pageshow', giveUp);
    request.onloadend = () => removeEventListener('pageshow', giveUp);
    request.send(body);
  });
}

/** A submission counts only where both the status and the body say so. */
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
