import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { advanceClockUntil } from './page-time.ts';

/** Records the failure reports that a page sends. */
export function reportsOf(page: Page): unknown[] {
  const reports: unknown[] = [];
  page.on('request', request => {
    if (request.url().endsWith('/api/remote-failure')) {
      reports.push(request.postDataJSON());
    }
  });
  return reports;
}

/**
 * Advances a page's fake clock until a report is sent. The error message may come earlier. The fake clock is
 * faster than the network, so a remote that seems to time out may still load.
 */
export function untilReported(page: Page, reports: unknown[], report: unknown): Promise<void> {
  return advanceClockUntil(page, async () => expect(reports).toContainEqual(report));
}
