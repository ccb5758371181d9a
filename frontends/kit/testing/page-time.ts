import type { Page } from '@playwright/test';
import { expect } from '@playwright/test';

/**
 * Lets a page's simulated time pass, second by second, until what is expected holds: for what waits between two tries
 * over the network. When exactly it happens is for unit tests to show.
 */
export async function advanceClockUntil(page: Page, expected: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.clock.runFor(1_000);
    await expected();
  }).toPass({ intervals: [0], timeout: 90_000 });
}
