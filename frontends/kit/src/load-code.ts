import { PATIENCE, retry } from './retry.ts';

/** For which file the page was last loaded again, for as long as the tab is open. */
const MEMORY = 'site:reloaded-for';

/**
 * Loads code over the network, patiently. Where its file is gone because a newer build has taken its place, the page
 * is loaded again, in that build; what is returned then never settles.
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await retryCode(load);
  } catch (failure) {
    if ((await isGone(failure)) && loadPageAgain(failure)) {
      return new Promise(() => undefined);
    }
    throw failure;
  }
}

/** Loads code over the network, patiently, but does not wait for a file that is gone. */
export function retryCode<T>(load: () => Promise<T>): Promise<T> {
  return retry(load, { ...PATIENCE, worthIt: async failure => !(await isGone(failure)) });
}

/** Whether a file of code could not be loaded because it is no longer there. */
export async function isGone(failure: unknown): Promise<boolean> {
  const file = fileOf(failure);
  const answer = file && (await fetch(file, { method: 'HEAD' }).catch(() => undefined));
  return answer ? answer.status === 404 : false;
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

/** The address of the file, as the bundler's `ChunkLoadError` tells it. */
export function fileOf(failure: unknown): string | undefined {
  return failure instanceof Error && 'request' in failure && typeof failure.request === 'string'
    ? failure.request
    : undefined;
}
