import { audited, faultsOf, launchForAudit } from '../../../build/audit.ts';
import { expect, test } from '../../../kit/testing/browser.ts';

test('what Lighthouse can see on any machine is within its budgets', async ({ stack }) => {
  const browser = await launchForAudit();
  try {
    expect(faultsOf(await audited(stack.site, '/', browser.port))).toEqual([]);
  } finally {
    browser.kill();
  }
});

for (const route of ['/', '/blog/ai-advancements']) {
  test(`${route} stands still when its fonts come late`, async ({ page }) => {
    await page.setViewportSize({ width: 1350, height: 940 });
    await page.addInitScript(() => {
      const moved = { by: 0, fonts: 0 };
      Object.assign(window, { moved });
      new PerformanceObserver(list => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) {
          moved.by += entry.value;
        }
      }).observe({ type: 'layout-shift', buffered: true });
      document.fonts.addEventListener('loadingdone', () => {
        // What that moves is known once it has been painted.
        requestAnimationFrame(() => setTimeout(() => moved.fonts++, 100));
      });
    });
    await page.route('**/*.woff2', async font => {
      await new Promise(later => setTimeout(later, 1000));
      await font.continue();
    });
    await page.goto(route);
    const moved = () => page.evaluate(() => (window as unknown as Moved).moved);
    await expect.poll(async () => (await moved()).fonts).toBeGreaterThan(0);
    expect((await moved()).by).toBeLessThan(0.01);
  });
}

interface Moved {
  moved: { by: number; fonts: number };
}
