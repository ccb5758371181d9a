import { chromium } from '@playwright/test';
import { CHROMIUM } from '../../../build/chromium.ts';
import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';

// https://web.dev/articles/bfcache

const SCROLLED = 200;

/** Debian's `chromium`, because the headless shell of other tests has no back/forward cache. */
const BROWSER = process.env['CHROMIUM_WITH_WINDOW'] ?? '/usr/bin/chromium';

/** State of a shown page. The page stores it for another tab. */
interface Shown {
  persisted: boolean;
  scrollY: number;
  /** Why the page was not restored, if the browser says so. */
  reasons: unknown;
}

for (const route of SAMPLE_PATHS) {
  test(`${route} is restored from the back/forward cache`, async ({ stack }) => {
    // Playwright disables the cache.
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
    // Playwright gets no events from a restored page, so another tab reads the result.
    await page.evaluate(() => {
      setTimeout(() => history.back());
    });
    const shown = () =>
      other.evaluate((): Shown => JSON.parse(localStorage.getItem('shown') ?? '{}'));
    await expect.poll(shown).toMatchObject({ persisted: true, scrollY: SCROLLED });
    await browser.close();
  });
}
