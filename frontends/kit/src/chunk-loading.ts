import { LOAD_TIMEOUT_MS, retry } from './retry.ts';
import { readSessionRecord, writeSessionRecord } from './session-record.ts';

/** Name of the record that keeps for which chunk the page was last reloaded. */
const RECORD = 'site:reloaded-for';

/** Loads a chunk with retries, except one that is missing (404). */
export function loadChunkWithRetry<T>(load: () => Promise<T>): Promise<T> {
  const shouldRetry = async (failure: unknown) => !(await isChunkMissing(failure));
  return retry(load, { shouldRetry });
}

/** Whether a chunk did not load because the server no longer has it. After a timeout nobody asks: that would hang, too. */
export async function isChunkMissing(failure: unknown): Promise<boolean> {
  return !isChunkTimeout(failure) && (await statusOf(chunkUrlOf(failure))) === 404;
}

/** Whether the server has the chunk that did not load, or where the failure names none, another file. */
export async function isChunkServed(
  failure: unknown,
  otherwise: string | undefined,
): Promise<boolean> {
  return (await statusOf(chunkUrlOf(failure) ?? otherwise)) === 200;
}

/** Whether the server answers for an address, if only that there is no such page. */
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
 * Reloads the page, unless that was done for the same chunk before: then the newer build lacks it, too. Says whether it
 * does.
 */
export function reloadPageOnce(failure: unknown): boolean {
  const isFirst = markReloadedFor(chunkUrlOf(failure) ?? '');
  if (isFirst) {
    location.reload();
  }
  return isFirst;
}

/** Whether it is the first time. Where the storage is forbidden it is not: the page would be reloaded without end. */
function markReloadedFor(url: string): boolean {
  const isNew = readSessionRecord(RECORD)['url'] !== url;
  writeSessionRecord(RECORD, { url });
  return isNew && readSessionRecord(RECORD)['url'] === url;
}

/** The bundler gives a chunk up when it is slow: see `build/chunk-timeout.ts`. */
function isChunkTimeout(failure: unknown): boolean {
  return failure instanceof Error && 'type' in failure && failure.type === 'timeout';
}

/** The chunk's URL, as the bundler's `ChunkLoadError` tells it. */
function chunkUrlOf(failure: unknown): string | undefined {
  return failure instanceof Error && 'request' in failure && typeof failure.request === 'string'
    ? failure.request
    : undefined;
}
