import type { Page, Route } from '@playwright/test';
import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, hydrated, openWithout, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

// Unit tests of `lazy-part` and `lazy-area` cover retries, timeouts and reports. These tests cover failures
// in a real browser with the bundler's runtime.

/** For a missing part of a prerendered page, and for a missing page. */
const FAILED = /^This (part of the site|page) did not load$/;

test('an unavailable remote costs the home page only its area', {
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
  // The prerendered HTML stays, and its links work.
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

test('the home page loads the blog near the viewport', {
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

test('a remote failing between clicks is reported, costs its area', async ({
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
  test(`a remote that ${fault} at first load keeps its HTML; Retry hydrates`, async ({
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

test('an HTML remote entry makes the browser load the page', async ({
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

test('a slow remote keeps its HTML and hydrates late', async ({ page, consoleMessages }) => {
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

test('a missing chunk reloads the page once, then fails', {
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

test('a remote of another build replaces the prerendered HTML', async ({ page }) => {
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
 * The browser may complain of a missing or invalid script, or of an unused preload. Our own code must not
 * throw.
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

/** `asked` resolves on the first request, and `letGo` releases the file. */
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
