import type { components } from './api.gen.ts';
import type { Patience } from './retry.ts';
import { PATIENCE, retry } from './retry.ts';

/** What came of a submission. */
export type Outcome =
  | { ok: true }
  | {
      ok: false;
      /** Whether the visitor called it off. */
      isCancelled?: boolean;
      /** A sentence for the visitor. */
      message: string;
      /** What is wrong with which field. */
      fields: Readonly<Record<string, string>>;
    };

/** What a form says where the server says nothing. */
export interface Sentences {
  /** The server refused. */
  refused: string;
  /** The server was not reached, or its answer was not understood; why is nothing that a visitor could read. */
  unreachable: string;
}

/** The bodies that the API takes as JSON. */
export interface JsonForms {
  '/api/contact': components['schemas']['ContactForm'];
  '/api/newsletter': components['schemas']['NewsletterForm'];
  '/api/newsletter/confirm': components['schemas']['TokenForm'];
  '/api/newsletter/unsubscribe': components['schemas']['TokenForm'];
}

interface Options {
  sentences: Sentences;
  patience?: Patience;
  /** Calls the submission off. */
  signal?: AbortSignal;
}

/** How long one attempt with a JSON body may take. */
const JSON_DEADLINE = 30_000;
/** How long one attempt with a file may take. */
const UPLOAD_DEADLINE = 180_000;

/** Submits a form as JSON. */
export function postJson<Path extends keyof JsonForms>(
  path: Path,
  form: JsonForms[Path],
  options: Options,
): Promise<Outcome> {
  const body = JSON.stringify(form);
  const { signal } = options;
  return submit(options, path + body, key => send({ path, key, body, signal }, JSON_DEADLINE));
}

/** Submits a form with a file. `onProgress` learns which part of it, from 0 to 1, is sent. */
export function postMultipart(
  path: '/api/career-application',
  form: FormData,
  options: Options & { onProgress?: (part: number) => void },
): Promise<Outcome> {
  const { signal, onProgress } = options;
  const request = { path, body: form, signal, onProgress };
  return submit(options, path + fingerprint(form), key =>
    send({ ...request, key }, UPLOAD_DEADLINE),
  );
}

interface Answer {
  status: number;
  body: string;
}

/** The server was not reached; nobody knows whether the submission arrived. */
class Unreached extends Error {}

/** The keys of submissions that may or may not have arrived, by what was submitted. */
const unanswered = new Map<string, string>();

/**
 * All attempts have one key, so that the server stores the submission once. A visitor who presses the
 * button again after a failure makes another attempt, not another submission.
 */
async function submit(
  { sentences, patience = PATIENCE, signal }: Options,
  content: string,
  attempt: (key: string) => Promise<Answer>,
): Promise<Outcome> {
  const key = unanswered.get(content) ?? newKey();
  unanswered.set(content, key);
  try {
    const worthIt = (failure: unknown) => failure instanceof Unreached;
    const answer = await retry(() => attempt(key), { ...patience, worthIt, signal });
    const outcome = read(answer, sentences.refused);
    // After an error of the server's nobody knows whether it was stored.
    if (answer.status < 500) {
      unanswered.delete(content);
    }
    return outcome;
  } catch {
    const isCancelled = signal?.aborted ?? false;
    return { ok: false, isCancelled, message: sentences.unreachable, fields: {} };
  }
}

function fingerprint(form: FormData): string {
  const parts = Array.from(form, ([name, value]) =>
    typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.lastModified],
  );
  return JSON.stringify(parts);
}

interface Request {
  path: string;
  key: string;
  body: string | FormData;
  signal?: AbortSignal | undefined;
  onProgress?: ((part: number) => void) | undefined;
}

/** XMLHttpRequest, because fetch tells nothing of an upload's progress. */
function send({ path, key, body, signal, onProgress }: Request, deadline: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.timeout = deadline;
    request.setRequestHeader('Idempotency-Key', key);
    request.setRequestHeader('Accept', 'application/json');
    if (typeof body === 'string') {
      request.setRequestHeader('Content-Type', 'application/json');
    }
    if (onProgress) {
      request.upload.onprogress = event => onProgress(event.loaded / event.total);
    }
    request.onload = () => resolve({ status: request.status, body: request.responseText });
    request.onerror = () => reject(new Unreached());
    request.ontimeout = () => reject(new Unreached());
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });
}

/** A submission counts only where both the status and the body say so. */
function read({ status, body }: Answer, refused: string): Outcome {
  const answer: unknown = JSON.parse(body);
  if (!isRecord(answer)) {
    throw new TypeError('The answer is no object');
  }
  if (status >= 200 && status < 300 && answer['success'] === true) {
    return { ok: true };
  }
  const sentence = [answer['message'], answer['error']].find(text => typeof text === 'string');
  return { ok: false, message: sentence || refused, fields: sentencesOf(answer['fields']) };
}

function sentencesOf(fields: unknown): Record<string, string> {
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

/** A random UUID, also where the page came over plain HTTP and `randomUUID` is missing. */
function newKey(): string {
  if (typeof crypto.randomUUID === 'function') {
    return crypto.randomUUID();
  }
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
