import type { Page } from '@playwright/test';
import type { Toast } from '../src/toast.ts';

/**
 * Runs in the page. Disables the timeouts that remove toasts and confirmations, so that a test can check
 * them. Unit tests check their display time.
 */
export function disableToastTimeouts(): void {
  const later = window.setTimeout.bind(window);
  const soon = (run: TimerHandler, after = 0) => (after < 4000 ? later(run, after) : 0);
  Object.assign(window, { setTimeout: soon });
}

export async function showPersistentToast(
  page: Page,
  title: string,
  kind?: Toast['kind'],
): Promise<void> {
  await page.evaluate(disableToastTimeouts);
  await showToast(page, title, kind);
}

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
