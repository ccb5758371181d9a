import { PATIENCE, retry, SLOW } from './retry.ts';

/** For which file the page was last loaded again, for as long as the tab is open. */
const MEMORY = 'site:reloaded-for';

/** Loads code over the network, patiently, but does not wait for a file that is gone. */
export function retryCode<T>(load: () => Promise<T>): Promise<T> {
  return retry(load, { ...PATIENCE, worthIt: async failure => !(await isGone(failure)) });
}

/** Whether a file of code could not be loaded because it is no longer there. Of one that hung nobody asks: that hung, too. */
export async function isGone(failure: unknown): Promise<boolean> {
  return !hasHung(failure) && (await statusOf(fileOf(failure))) === 404;
}

/** Whether the server has the file that did not load, or where the failure names none, another one. */
export async function isServed(failure: unknown, otherwise: string | undefined): Promise<boolean> {
  return (await statusOf(fileOf(failure) ?? otherwise)) === 200;
}

async function statusOf(file: string | undefined): Promise<number | undefined> {
  const ask = { method: 'HEAD', signal: AbortSignal.timeout(SLOW) };
  return file === undefined
    ? undefined
    : await fetch(file, ask).then(
        ({ status }) => status,
        () => undefined,
      );
}

/**
 * Loads the page again, unless that was done for the same file before: then the newer build lacks it, too. Says
 * whether it does.
 */
export function loadPageAgain(failure: unknown): boolean {
  const isFirst = remember(fileOf(failure) ?? '');
  if (isFirst) {
    location.reload();
  }
  return isFirst;
}

/** Whether it is news. What cannot be remembered is none: the page would be loaded again and again. */
function remember(file: string): boolean {
  try {
    const isNew = sessionStorage.getItem(MEMORY) !== file;
    sessionStorage.setItem(MEMORY, file);
    return isNew;
  } catch {
    return false;
  }
}

/** The bundler gives a file up when it is slow: see `build/chunk-timeout.ts`. */
function hasHung(failure: unknown): boolean {
  return failure instanceof Error && 'type' in failure && failure.type === 'timeout';
}

/** The address of the file, as the bundler's `ChunkLoadError` tells it. */
function fileOf(failure: unknown): string | undefined {
  return failure instanceof Error && 'request' in failure && typeof failure.request === 'string'
    ? failure.request
    : undefined;
}
