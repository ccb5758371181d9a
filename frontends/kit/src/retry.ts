/** Exponential backoff of all requests: the initial delay doubles with each retry. */
export const DEFAULT_RETRY_POLICY = { retries: 3, initialDelayMs: 1000, maxDelayMs: 30_000 };

interface RetryOptions extends Partial<typeof DEFAULT_RETRY_POLICY> {
  shouldRetry?: (failure: unknown) => boolean | Promise<boolean>;
  /** Ends the retries at once, also during a delay. */
  signal?: AbortSignal | undefined;
}

/** After this time a load counts as slow: the visitor sees an error, and hanging requests are retried. */
export const LOAD_TIMEOUT_MS = 8000;

/** Calls `attempt` until it succeeds. Throws the last error if it is not retryable or the retries run out. */
export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions = {}) {
  const policy = { ...DEFAULT_RETRY_POLICY, ...options };
  const { retries, initialDelayMs, maxDelayMs, shouldRetry = () => true, signal } = policy;
  signal?.throwIfAborted();
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (failure) {
      if (failures >= retries || !(await shouldRetry(failure))) {
        throw failure;
      }
      signal?.throwIfAborted();
      await delay(Math.min(initialDelayMs * 2 ** failures, maxDelayMs), signal);
    }
  }
}

function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
