import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { advanceClockUntil } from './page-time.ts';

/** What a page tells the operators of that did not load. */
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
 * Lets a page's simulated time pass until the operators are told. Before that a remote may be said to be missing because
 * it is slow, and come yet: simulated time passes faster than the network fails.
 */
export function untilReported(page: Page, reports: unknown[], report: unknown): Promise<void> {
  return advanceClockUntil(page, async () => expect(reports).toContainEqual(report));
}
