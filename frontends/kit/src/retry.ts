/** How a thing that failed over the network is tried again. */
export interface Patience {
  /** How many more times. */
  retries: number;
  /** Milliseconds before the first of them; then it doubles. */
  firstWait: number;
  /** The longest wait. */
  longestWait: number;
  /** Whether trying again may help after this failure. */
  worthIt?: (failure: unknown) => boolean | Promise<boolean>;
  /** Ends patience at once, also while it waits. */
  signal?: AbortSignal | undefined;
  /** How to wait; tests wait less. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** What holds for every load over the network. */
export const PATIENCE: Patience = { retries: 3, firstWait: 1000, longestWait: 30_000 };

/** Milliseconds after which what is loaded is slow: a visitor is told, and what waits for an answer asks anew. */
export const SLOW = 8000;

/** Calls `attempt` until it succeeds or patience ends; then its last failure is thrown. */
export async function retry<T>(attempt: () => Promise<T>, patience: Patience = PATIENCE) {
  const { retries, firstWait, longestWait, worthIt = () => true, signal, sleep = pause } = patience;
  signal?.throwIfAborted();
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (failure) {
      if (failures >= retries || !(await worthIt(failure))) {
        throw failure;
      }
      signal?.throwIfAborted();
      await sleep(Math.min(firstWait * 2 ** failures, longestWait), signal);
    }
  }
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
