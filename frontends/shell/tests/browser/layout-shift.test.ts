import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

for (const route of ['/', '/blog/ai-advancements']) {
  test(`${route} does not shift when its fonts load late`, async ({ page }) => {
    await page.setViewportSize({ width: 1350, height: 940 });
    await page.addInitScript(() => {
      const moved = { by: 0 };
      Object.assign(window, { moved });
      new PerformanceObserver(list => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) {
          moved.by += entry.value;
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const { promise: isShown, resolve: letFontsCome } = Promise.withResolvers<void>();
    await page.route('**/*.woff2', async font => {
      await isShown;
      await font.continue();
    });
    // The load event waits for the preloaded fonts.
    await page.goto(route, { waitUntil: 'commit' });
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect.poll(() => page.evaluate(paintsOf, 'first-contentful-paint')).toBe(1);
    expect(await page.evaluate(() => document.fonts.status)).toBe('loading');
    letFontsCome();
    await page.evaluate(() => document.fonts.ready);
    await page.evaluate(twoFrames);
    expect(await page.evaluate(() => (window as unknown as Moved).moved.by)).toBeLessThan(0.01);
  });
}

function paintsOf(name: string): number {
  return performance.getEntriesByName(name).length;
}

/** Layout shifts are reported only after a paint. */
function twoFrames(): Promise<void> {
  return new Promise(done => {
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
  });
}

interface Moved {
  moved: { by: number };
}
