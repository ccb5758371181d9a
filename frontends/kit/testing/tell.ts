import type { Page } from '@playwright/test';

/** Shows a notice, as a remote does. */
export async function tell(
  page: Page,
  title: string,
  kind: 'success' | 'error' | 'overlay' = 'success',
): Promise<void> {
  await page.evaluate(
    detail => {
      window.dispatchEvent(new CustomEvent('site:notice', { detail }));
    },
    { kind, title, text: 'What happened.' },
  );
}
