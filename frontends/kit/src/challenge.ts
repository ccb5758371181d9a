import type { Challenge } from 'altcha-lib';
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';
import type { Headers, HttpResponse } from './api-client.ts';
import { brand } from './brand.ts';

/** Challenges per submission. A visitor whose IP address changes gets another challenge. */
const MAX_CHALLENGES = 3;
const TIMEOUT_MS = 60_000;

export const UNCHECKED = `We could not check that you are not a robot. Please try again in a few minutes, write to ${brand.emails.sales} or call ${brand.phone}.`;

type IsChallenge = (response: HttpResponse) => boolean;

/** Solves the challenge of a response and sends the form again, for at most `MAX_CHALLENGES` challenges. */
export async function solveAndSend(
  response: HttpResponse,
  isChallenge: IsChallenge,
  send: (headers: Headers) => Promise<HttpResponse>,
  signal?: AbortSignal,
): Promise<HttpResponse> {
  let last = response;
  for (let solved = 0; isChallenge(last); solved += 1) {
    const solution = solved < MAX_CHALLENGES && (await solve(last, signal).catch(() => undefined));
    signal?.throwIfAborted();
    if (!solution) {
      return { ...last, body: JSON.stringify({ success: false, message: UNCHECKED }) };
    }
    last = await send({ 'Challenge-Solution': solution });
  }
  return last;
}

/**
 * Solution of a response's challenge, encoded for the header. Solving needs no worker, because browsers
 * derive keys off the main thread.
 */
async function solve({ body }: HttpResponse, signal?: AbortSignal): Promise<string | undefined> {
  const { challenge }: { challenge: Challenge } = JSON.parse(body);
  // The visitor may have cancelled while this chunk was loading.
  signal?.throwIfAborted();
  const controller = new AbortController();
  signal?.addEventListener('abort', () => controller.abort(), { once: true });
  const solution = await solveChallenge({ challenge, deriveKey, controller, timeout: TIMEOUT_MS });
  return solution ? btoa(JSON.stringify({ challenge, solution })) : undefined;
}
