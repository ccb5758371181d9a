import type { Page, Route } from '@playwright/test';
import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, hydrated, openWithout, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

// When a remote is tried again, when it counts as slow, and what operators learn of it, the tests of `lazy-part` and
// `lazy-area` show. Here it is the browser and the bundler's runtime that fail.

/** A page whose HTML is there lacks a part of it, one that is gone to all. */
const FAILED = /^This (part of the site|page) did not load$/;

test('a remote that is down costs the home page only its own area; the shell goes on working', {
  tag: '@hosting',
}, async ({ page, consoleMessages }) => {
  await page.clock.install();
  await page.route('**/remotes/blog/**', abort);
  await page.goto('/?newsletter=confirm&token=any');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page).toHaveURL('/');
  const area = page.locator('[data-area="blog"]');
  await area.scrollIntoViewIfNeeded();
  await untilItFailed(page);
  // What was prerendered stays, and its links lead on.
  await expect(area.getByText(FAILED)).toBeVisible();
  await expect(area.getByRole('heading', { name: 'Latest Insights' })).toBeVisible();
  await page.getByRole('link', { name: 'See how it works' }).click();
  await expect(page.getByText('Discovery Audit')).toBeInViewport();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await expect(page.locator('html')).toHaveClass(/dark/);
  await page.getByRole('link', { name: 'Terms of Service' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Terms of Service');
  onlyTheFaultItself(consoleMessages);
});

test('the home page asks for the blog when its teasers come near the viewport', {
  tag: '@hosting',
}, async ({ page }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(new URL(request.url()).pathname));
  await page.goto('/', { waitUntil: 'networkidle' });
  const entry = '/remotes/blog/remoteEntry.js';
  expect(asked).not.toContain(entry);
  const area = page.locator('[data-area="blog"]');
  await area.scrollIntoViewIfNeeded();
  await hydrated(area.getByRole('heading', { name: 'Latest Insights' }));
  expect(asked).toContain(entry);
});

test('a remote that dies between two clicks costs only its own area, and operators learn of it', async ({
  page,
  consoleMessages,
}) => {
  const reports = reportsOf(page);
  await page.clock.install();
  await page.goto('/blog');
  await hydrated(page.locator('main h1'));
  await page.route('**/remotes/blog/**', abort);
  await page.getByRole('link', { name: 'Technology', exact: true }).click();
  await expect(page.getByText('2 articles in Technology')).toBeVisible();
  await page.getByRole('article').first().getByRole('link').click();
  await untilItFailed(page);
  await untilReported(page, reports, { remote: 'blog', reason: 'unreachable' });

  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.unroute('**/remotes/blog/**');
  await page.goBack();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
  onlyTheFaultItself(consoleMessages);
});

const corrupt = answer('throw new Error("corrupt")');

const AT_FIRST_LOAD = {
  'is down': { reason: 'unreachable', file: '**/remotes/careers/**', fail: abort },
  'has a corrupt entry': {
    reason: 'broken',
    file: '**/remotes/careers/remoteEntry.js*',
    fail: corrupt,
  },
  'has a corrupt part': {
    reason: 'broken',
    file: '**/remotes/careers/assets/careers-page.*.js',
    fail: corrupt,
  },
};

for (const [fault, { reason, file, fail }] of Object.entries(AT_FIRST_LOAD)) {
  test(`a remote that ${fault} at first load: its page is read as it was rendered, and hydrated after Retry`, async ({
    page,
    consoleMessages,
    pageErrors,
  }) => {
    const reports = reportsOf(page);
    await page.clock.install();
    await page.route(file, fail);
    await openWithout(page, 'careers', '/careers');
    await untilItFailed(page);
    await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
    await untilReported(page, reports, { remote: 'careers', reason });

    await page.unroute(file);
    await page.getByRole('button', { name: 'Retry' }).click();
    await worksAgain(page);
    onlyTheFaultItself(consoleMessages, pageErrors);
  });
}

test('a remote that answers with a page instead of its entry when it is gone to: its page is loaded and read, the rest works, and it is hydrated after Retry', async ({
  page,
  consoleMessages,
  pageErrors,
}) => {
  const reports = reportsOf(page);
  const entry = '**/remotes/careers/remoteEntry.js*';
  await page.clock.install();
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  await page.route(entry, answer('<!doctype html><title>Oops</title>'));
  await page.getByRole('link', { name: 'Careers', exact: true }).first().click();
  await untilItFailed(page);
  await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await expect(page.locator('html')).toHaveClass(/dark/);
  await untilReported(page, reports, { remote: 'careers', reason: 'broken' });

  await page.unroute(entry);
  await page.getByRole('button', { name: 'Retry' }).click();
  await worksAgain(page);
  onlyTheFaultItself(consoleMessages, pageErrors);
});

test('a remote that is slow at first load: its page is read as it was rendered, the visitor is told, and it is hydrated when it comes', async ({
  page,
  consoleMessages,
}) => {
  const reports = reportsOf(page);
  await page.clock.install();
  const held = await hold(page, '**/remotes/careers/remoteEntry.js*');
  await openWithout(page, 'careers', '/careers');
  await held.asked;
  await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
  await untilItFailed(page);
  await untilReported(page, reports, { remote: 'careers', reason: 'slow' });
  held.letGo();
  await worksAgain(page);
  onlyTheFaultItself(consoleMessages);
});

test('a part that every build lacks is asked for in the new one once, and then said to be missing', {
  tag: '@hosting',
}, async ({ page, consoleMessages }) => {
  const loads: string[] = [];
  page.on('load', () => loads.push(page.url()));
  await page.route('**/remotes/careers/assets/careers-page.*.js', route =>
    route.fulfill({ status: 404 }),
  );
  await page.goto('/careers', { waitUntil: 'commit' });
  await expect(page.getByText(FAILED)).toBeVisible();
  expect(loads).toHaveLength(2);
  onlyTheFaultItself(consoleMessages);
});

test('a remote of another build than the page is shown anew, without a word', async ({ page }) => {
  await page.route('**/careers', async route => {
    const answer = await route.fetch();
    const html = await answer.text();
    const older = html
      .replace(/(<meta name="remote:careers" content=")[^"]*/, '$1older')
      .replaceAll('Computer Vision Intern', 'Lamplighter');
    expect(older).not.toBe(html);
    await route.fulfill({ response: answer, body: older });
  });
  await page.goto('/careers');
  await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
  await expect(page.getByText('Lamplighter')).toHaveCount(0);
  await page.getByRole('link', { name: 'Apply Now' }).first().click();
  await expect(page.getByRole('dialog')).toBeVisible();
});

function abort(route: Route) {
  return route.abort();
}

function answer(body: string) {
  return (route: Route) => route.fulfill({ contentType: 'text/javascript', body });
}

async function worksAgain(page: Page) {
  await expect(page.getByText(FAILED)).toBeHidden();
  const opener = page.getByRole('link', { name: 'Apply Now' }).first();
  await hydrated(opener);
  await opener.click();
  await expect(page.getByRole('dialog')).toBeVisible();
}

/**
 * A script that did not come, or is none, is for the browser to complain of, and so is one that it preloaded and then
 * waited for in vain; that what is ours throws is not.
 */
function onlyTheFaultItself(consoleMessages: string[], pageErrors: string[] = []) {
  for (const text of pageErrors.splice(0)) {
    expect(text).toMatch(/corrupt|Unexpected token '<'/);
  }
  for (const text of consoleMessages.splice(0)) {
    expect(text).toMatch(/ERR_FAILED|404|Federation Runtime|preloaded/);
  }
}

function untilItFailed(page: Page) {
  return advanceClockUntil(page, () =>
    expect(page.getByText(FAILED)).toBeVisible({ timeout: 100 }),
  );
}

/** Holds back a file, once it is asked for, until it is let go. */
async function hold(page: Page, file: string) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  await page.route(file, async route => {
    asked.resolve();
    await released.promise;
    await route.continue();
  });
  return { asked: asked.promise, letGo: released.resolve };
}
