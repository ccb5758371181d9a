import { LOAD_TIMEOUT_MS, retry } from './retry.ts';
import { readSessionRecord, writeSessionRecord } from './session-record.ts';

/** Session record of the chunk for which the page was last reloaded. */
const RECORD = 'site:reloaded-for';

/** Loads a chunk. Retries after failures, unless the chunk is missing (404). */
export function loadChunkWithRetry<T>(load: () => Promise<T>): Promise<T> {
  const shouldRetry = async (failure: unknown) => !(await isChunkMissing(failure));
  return retry(load, { shouldRetry });
}

/** Whether the server lacks a chunk (404). After a timeout no request is sent, because it might also hang. */
export async function isChunkMissing(failure: unknown): Promise<boolean> {
  return !isChunkTimeout(failure) && (await statusOf(chunkUrlOf(failure))) === 404;
}

/** Whether the server has the chunk that failed, or the file `otherwise` if the failure names no chunk. */
export async function isChunkServed(
  failure: unknown,
  otherwise: string | undefined,
): Promise<boolean> {
  return (await statusOf(chunkUrlOf(failure) ?? otherwise)) === 200;
}

/** Whether the server answers at all, even with 404. */
export async function isServed(url: string): Promise<boolean> {
  return ((await statusOf(url)) ?? 500) < 500;
}

async function statusOf(url: string | undefined): Promise<number | undefined> {
  const request = { method: 'HEAD', signal: AbortSignal.timeout(LOAD_TIMEOUT_MS) };
  return url === undefined
    ? undefined
    : await fetch(url, request).then(
        ({ status }) => status,
        () => undefined,
      );
}

/**
 * Reloads the page, unless the last reload was for the same chunk. In that case the new build also lacks it.
 * Returns whether the page reloads.
 */
export function reloadPageOnce(failure: unknown): boolean {
  const isFirst = markReloadedFor(chunkUrlOf(failure) ?? '');
  if (isFirst) {
    location.reload();
  }
  return isFirst;
}

/** Returns whether the URL is new. Without storage it returns false, to prevent a reload loop. */
function markReloadedFor(url: string): boolean {
  const isNew = readSessionRecord(RECORD)['url'] !== url;
  writeSessionRecord(RECORD, { url });
  return isNew && readSessionRecord(RECORD)['url'] === url;
}

function isChunkTimeout(failure: unknown): boolean {
  return failure instanceof Error && 'type' in failure && failure.type === 'timeout';
}

/** URL of the chunk in the bundler's `ChunkLoadError`. */
function chunkUrlOf(failure: unknown): string | undefined {
  return failure instanceof Error && 'request' in failure && typeof failure.request === 'string'
    ? failure.request
    : undefined;
}
