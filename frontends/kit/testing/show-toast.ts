import type { Page } from '@playwright/test';
import type { Notice } from '../src/notice.ts';

type Kind = Notice['kind'];

/**
 * Has what a page shows for some seconds, notices and confirmations, stay for as long as a test looks at it. How long it
 * is shown, unit tests say. It runs in the page.
 */
export function keepShown(): void {
  const later = window.setTimeout.bind(window);
  const soon = (run: TimerHandler, after = 0) => (after < 4000 ? later(run, after) : 0);
  Object.assign(window, { setTimeout: soon });
}

/** Shows a notice, as a remote does; it stays. */
export async function tell(page: Page, title: string, kind?: Kind): Promise<void> {
  await page.evaluate(keepShown);
  await tellInPassing(page, title, kind);
}

/** Shows a notice for as long as it is shown to visitors. */
export async function tellInPassing(
  page: Page,
  title: string,
  kind: Kind = 'success',
): Promise<void> {
  await page.evaluate(
    detail => {
      window.dispatchEvent(new CustomEvent('site:notice', { detail }));
    },
    { kind, title, text: 'What happened.' },
  );
}
