import { readFileSync } from 'node:fs';
import type { Page, Route } from '@playwright/test';
import type { BuildManifest } from '../../../build/document.ts';
import { manifestFile } from '../../../build/file-paths.ts';
import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, expectConsole, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

// Unit tests of `app-loader.js` cover retries and delays. These tests check that a real browser does not run
// the application twice.

const { shell }: BuildManifest = JSON.parse(readFileSync(manifestFile, 'utf8'));
const MAIN = shell['main']?.find(file => file.endsWith('.js')) ?? 'missing';
/** Console messages about failed requests, and about preloaded files that are not used yet. */
const WAITED_FOR = /503|preloaded/;

test('after one 503 the application starts by a retry', async ({ page, consoleMessages }) => {
  const asked = await answerMain(page, [refuse, send]);
  await page.goto('/about', { waitUntil: 'commit' });
  await untilAsked(page, asked, 2);
  await hydrated(page.locator('main h1'));
  expect(asked).toEqual(['', '?1']);
  expectConsole(consoleMessages, WAITED_FOR);
});

test('a hanging application starts once, by a retry', async ({ page }) => {
  const { promise: hasStarted, resolve: letCome } = Promise.withResolvers<void>();
  const asked = await answerMain(page, [route => hasStarted.then(() => send(route)), send]);
  await page.goto('/about', { waitUntil: 'commit' });
  await untilAsked(page, asked, 2);
  await hydrated(page.locator('main h1'));
  expect(asked).toEqual(['', '?1']);
  const late = page.waitForResponse(answer => answer.url().endsWith(MAIN));
  letCome();
  await (await late).finished();
  expect(await startsOf(page)).toBe(1);
});

test('a slow application starts once, before its retry arrives', async ({ page }) => {
  const first = Promise.withResolvers<void>();
  const next = Promise.withResolvers<void>();
  const asked = await answerMain(page, [
    route => first.promise.then(() => send(route)),
    route => next.promise.then(() => send(route)),
  ]);
  await page.goto('/about', { waitUntil: 'commit' });
  await untilAsked(page, asked, 2);
  first.resolve();
  await hydrated(page.locator('main h1'));
  const late = page.waitForResponse(answer => answer.url().endsWith(`${MAIN}?1`));
  next.resolve();
  await (await late).finished();
  expect(await startsOf(page)).toBe(1);
});

test('without the application the page is readable, the failure reported', async ({
  page,
  consoleMessages,
}) => {
  const reports = reportsOf(page);
  const asked = await answerMain(page, [refuse, refuse, refuse, refuse]);
  await page.goto('/about', { waitUntil: 'commit' });
  await untilReported(page, reports, { remote: 'shell', reason: 'unreachable' });
  expect(asked).toEqual(['', '?1', '?2', '?3']);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  expectConsole(consoleMessages, WAITED_FOR);
});

test('the application starts despite hanging pictures', async ({ page }) => {
  const asked = await answerMain(page, [send]);
  const hanging: string[] = [];
  await page.route(/\.(?:svg|avif|webp|jpg|png)(?:$|\?)/, route => {
    hanging.push(route.request().url());
  });
  await page.goto('/services', { waitUntil: 'commit' });
  await untilAsked(page, asked, 1);
  await hydrated(page.locator('main h1'));
  expect(hanging).not.toEqual([]);
});

/** Answers attempts in turn. Returns their queries. */
async function answerMain(page: Page, ways: ((route: Route) => Promise<void>)[]) {
  const asked: string[] = [];
  await page.clock.install();
  await page.route(
    ({ pathname }) => pathname === MAIN,
    route => {
      asked.push(new URL(route.request().url()).search);
      return ways[asked.length - 1]?.(route);
    },
  );
  return asked;
}

function refuse(route: Route) {
  return route.fulfill({ status: 503, body: 'Busy' });
}

/** Counts the starts of the application. */
async function send(route: Route) {
  const answer = await route.fetch();
  const body = `window.starts = (window.starts ?? 0) + 1;${await answer.text()}`;
  await route.fulfill({ response: answer, body });
}

/** Advances simulated time until the request; its response comes in real time. */
function untilAsked(page: Page, asked: readonly string[], times: number) {
  return advanceClockUntil(page, () =>
    expect.poll(() => asked.length, { timeout: 200 }).toBeGreaterThanOrEqual(times),
  );
}

function startsOf(page: Page): Promise<unknown> {
  return page.evaluate(() => 'starts' in window && window.starts);
}
