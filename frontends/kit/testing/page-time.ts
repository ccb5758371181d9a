import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';

/**
 * Advances a page's fake clock by seconds until the expectation holds, for tests of retries. Unit tests check
 * the exact times.
 */
export async function advanceClockUntil(page: Page, expected: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.clock.runFor(1_000);
    await expected();
  }).toPass({ intervals: [0], timeout: 90_000 });
}
