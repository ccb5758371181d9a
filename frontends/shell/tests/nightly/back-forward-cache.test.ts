import { chromium } from '@playwright/test';
import { CHROMIUM } from '../../../build/chromium.ts';
import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';

// Who goes back to a page of ours from another document finds it as it was left: nothing in it keeps browsers from keeping it
// (https://web.dev/articles/bfcache).

const SCROLLED = 200;

/** The whole browser, of Debian's package `chromium`: the shell without a window, in which other tests run, has no such cache. */
const BROWSER = process.env['CHROMIUM_WITH_WINDOW'] ?? '/usr/bin/chromium';

/** How a page came to be shown, as it noted it for another tab. */
interface Shown {
  persisted: boolean;
  scrollY: number;
  /** Why it was made anew, where a browser says so. */
  reasons: unknown;
}

for (const route of SAMPLE_PATHS) {
  test(`${route} comes back as it was left`, async ({ stack }) => {
    // Playwright launches its browsers without the cache.
    const browser = await chromium.launch({
      ...CHROMIUM,
      executablePath: BROWSER,
      args: [...(CHROMIUM.args ?? []), '--headless=new'],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.addInitScript(() => {
      addEventListener('pageshow', ({ persisted }) => {
        const [navigation] = performance.getEntriesByType('navigation');
        const reasons = (navigation as { notRestoredReasons?: unknown }).notRestoredReasons;
        localStorage.setItem('shown', JSON.stringify({ persisted, scrollY, reasons }));
      });
    });
    const page = await context.newPage();
    await page.goto(stack.site + route);
    await hydrated(page.locator('main h1'));
    await page.mouse.move(10, 200);
    await page.evaluate(y => scrollTo(0, y), SCROLLED);
    await page.goto(`${stack.site}/robots.txt`);
    const other = await context.newPage();
    await other.goto(`${stack.site}/robots.txt`);
    await other.evaluate(() => localStorage.removeItem('shown'));
    // Of a page that it did not load Playwright hears nothing: the page notes it, and another tab reads it.
    await page.evaluate(() => {
      setTimeout(() => history.back());
    });
    const shown = () =>
      other.evaluate((): Shown => JSON.parse(localStorage.getItem('shown') ?? '{}'));
    await expect.poll(shown).toMatchObject({ persisted: true, scrollY: SCROLLED });
    await browser.close();
  });
}
