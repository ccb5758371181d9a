import type { Challenge } from 'altcha-lib';
import { solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';
import type { Headers, HttpResponse } from './api-client.ts';
import { brand } from './brand.ts';

/** How often a challenge is solved for one submission: whose address has changed meanwhile gets another one. */
const MAX_CHALLENGES = 3;
/** After this nobody waits for a solution any more. */
const TIMEOUT_MS = 60_000;

/** What a visitor is told whose browser could not solve one. */
export const UNCHECKED = `We could not check that you are not a robot. Please try again in a few minutes, write to ${brand.emails.sales} or call ${brand.phone}.`;

/** Whether a response asks for a challenge to be solved first. */
type IsChallenge = (response: HttpResponse) => boolean;

/** Solves the challenge of a response and sends again, and once more where another one is asked for. */
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
 * The solution of a response's challenge, as the header holds it. Needs no worker: browsers derive keys on threads of
 * their own, and the page's has next to nothing to do meanwhile.
 */
async function solve({ body }: HttpResponse, signal?: AbortSignal): Promise<string | undefined> {
  const { challenge }: { challenge: Challenge } = JSON.parse(body);
  // While this code was loaded it may have been called off.
  signal?.throwIfAborted();
  const controller = new AbortController();
  signal?.addEventListener('abort', () => controller.abort(), { once: true });
  const solution = await solveChallenge({ challenge, deriveKey, controller, timeout: TIMEOUT_MS });
  return solution ? btoa(JSON.stringify({ challenge, solution })) : undefined;
}
