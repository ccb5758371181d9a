import type { Browser, Page, Route } from '@playwright/test';
import { ROUTES } from '../../../build/routes.ts';
import { expect, test } from '../../../kit/testing/browser.ts';
import { passUntil } from '../../../kit/testing/page-time.ts';

// Every script that a page of any kind loads is lost once, in each of three ways, alone: see docs/testing.md.

const LOSSES: Readonly<Record<string, (route: Route) => Promise<void> | undefined>> = {
  'is not there (404)': route => route.fulfill({ status: 404, body: 'Nothing here' }),
  'is refused (503)': route => route.fulfill({ status: 503, body: 'Busy' }),
  hangs: () => undefined,
};
/** Simulated milliseconds, of which ten are longer than every retry and every patience. */
const STEP = 2000;
const STEPS = 10;

for (const route of ROUTES) {
  test(`${route} keeps its text and leads on, whichever of its scripts is lost`, async ({
    browser,
    stack,
    said,
    page,
  }) => {
    test.setTimeout(600_000);
    const texts = await textsWithoutScript(browser, stack.site + route);
    expect(texts.length).toBeGreaterThan(3);
    const scripts = await scriptsOf(page, route);
    expect(scripts.length).toBeGreaterThan(1);
    for (const script of scripts) {
      for (const [loss, lose] of Object.entries(LOSSES)) {
        await test.step(`${script} ${loss}`, async () => {
          const visitor = await browser.newContext({
            baseURL: stack.site,
            reducedMotion: 'reduce',
          });
          const visit = await visitor.newPage();
          await visit.clock.install();
          await visit.route(`**${script}`, lose);
          await visit.goto(route, { waitUntil: 'commit' });
          await throughThePage(visit);
          await settled(async () => expect(await missing(visit, texts)).toEqual([]));
          await leadsOn(visit, route);
          await visitor.close();
        });
      }
    }
    said.splice(0);
  });
}

/** What is read of a page as it was rendered ahead of time. */
async function textsWithoutScript(browser: Browser, address: string): Promise<string[]> {
  const visitor = await browser.newContext({ javaScriptEnabled: false });
  const page = await visitor.newPage();
  await page.goto(address);
  const texts = await readable(page);
  await visitor.close();
  return texts;
}

async function readable(page: Page): Promise<string[]> {
  const texts = await page.locator('main :is(h1, h2, h3, p)').allInnerTexts();
  return texts.map(text => text.trim()).filter(Boolean);
}

async function missing(page: Page, texts: readonly string[]): Promise<string[]> {
  const there = await readable(page);
  return texts.filter(text => !there.includes(text));
}

/** The scripts that a page loads by itself, and while it is scrolled through. */
async function scriptsOf(page: Page, route: string): Promise<string[]> {
  const scripts = new Set<string>();
  page.on('request', request => {
    if (request.resourceType() === 'script') {
      scripts.add(new URL(request.url()).pathname);
    }
  });
  await page.clock.install();
  await page.goto(route);
  await throughThePage(page);
  return [...scripts];
}

async function throughThePage(page: Page) {
  await page.waitForLoadState('domcontentloaded');
  for (let step = 1; step <= STEPS; step += 1) {
    await settled(async () => {
      await page.evaluate(
        part => scrollTo(0, document.documentElement.scrollHeight * part),
        step / STEPS,
      );
      await page.clock.runFor(STEP);
    });
  }
}

/** A page of a former build loads itself anew, in the middle of whatever is asked of it. */
function settled(asked: () => Promise<void>): Promise<void> {
  return expect(asked).toPass({ intervals: [0], timeout: 10_000 });
}

async function leadsOn(page: Page, from: string) {
  const heading = (await page.locator('main h1').textContent()) ?? '';
  const to = from === '/about' ? 'Contact' : 'About';
  await page.getByRole('banner').getByRole('link', { name: to, exact: true }).click();
  await expect(page).toHaveURL(`/${to.toLowerCase()}`);
  const another = page.locator('main h1').filter({ hasNotText: heading });
  await passUntil(page, () =>
    expect(another.or(page.getByText('did not load')).first()).toBeVisible({ timeout: 200 }),
  );
}
