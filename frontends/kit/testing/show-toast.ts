import type { Page } from '@playwright/test';
import type { Toast } from '../src/toast.ts';

/**
 * Disables the timeouts after which toasts and confirmations go, so that a test has time to look at them. How long they
 * are shown, unit tests say. It runs in the page.
 */
export function disableToastTimeouts(): void {
  const later = window.setTimeout.bind(window);
  const soon = (run: TimerHandler, after = 0) => (after < 4000 ? later(run, after) : 0);
  Object.assign(window, { setTimeout: soon });
}

/** Shows a toast, as a remote does; it stays. */
export async function showPersistentToast(
  page: Page,
  title: string,
  kind?: Toast['kind'],
): Promise<void> {
  await page.evaluate(disableToastTimeouts);
  await showToast(page, title, kind);
}

/** Shows a toast for as long as it is shown to visitors. */
export async function showToast(
  page: Page,
  title: string,
  kind: Toast['kind'] = 'success',
): Promise<void> {
  await page.evaluate(
    detail => {
      window.dispatchEvent(new CustomEvent('site:notice', { detail }));
    },
    { kind, title, text: 'What happened.' },
  );
}
