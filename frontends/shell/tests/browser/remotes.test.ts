import type { Page, Route } from '@playwright/test';
import { expect, hydrated, test } from '../../../kit/testing/browser.ts';

const FAILED = 'This part of the site did not load.';
const UNREACHABLE = expect.stringMatching(/ERR_FAILED|Federation Runtime|preloaded/);

test('a remote that is down costs the home page only its own area', async ({ page, said }) => {
  await page.route('**/remotes/blog/**', route => route.abort());
  await page.goto('/');
  const area = page.locator('[data-area="blog"]');
  await area.scrollIntoViewIfNeeded();
  await expect(area.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  // What was rendered ahead of time stays, and its links lead on.
  await expect(area.getByRole('heading', { name: 'Latest Insights' })).toBeVisible();
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await theConsoleTellsOfNothingElse(said);
});

test('on a page whose remote is down the shell goes on working', async ({ page, said }) => {
  await page.route('**/remotes/blog/**', route => route.abort());
  await page.goto('/?newsletter=confirm&token=any');
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page).toHaveURL('/');
  await page.getByRole('link', { name: 'See how it works' }).click();
  await expect(page.getByText('Discovery Audit')).toBeInViewport();
  await page.locator('[data-area="blog"]').scrollIntoViewIfNeeded();
  await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.getByRole('link', { name: 'Terms of Service' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Terms of Service');
  await theConsoleTellsOfNothingElse(said);
});

test('the home page asks for the blog when its teasers come near the view', async ({ page }) => {
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

test('the shell keeps the place of the teasers until they are there', async ({ page }) => {
  const letGo = await hold(page, '**/remotes/blog/remoteEntry.js');
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const teasers = page.getByRole('region', { name: 'Latest Insights' });
  await teasers.scrollIntoViewIfNeeded();
  await expect(teasers.getByRole('status')).toHaveText('Loading…');
  await expect(teasers.getByRole('article')).toHaveCount(0);
  letGo();
  await expect(teasers.getByRole('article')).toHaveCount(3);
});

test('a remote that dies between two clicks costs only its own area, and operators learn of it', async ({
  page,
  said,
}) => {
  const reports = reportsOf(page);
  await page.goto('/blog');
  await hydrated(page.locator('main h1'));
  await page.route('**/remotes/blog/**', route => route.abort());
  await page.getByRole('button', { name: 'Technology' }).click();
  await expect(page.getByText('2 articles in Technology')).toBeVisible();
  await page.getByRole('article').first().getByRole('link').click();
  await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  await expect.poll(() => reports.at(-1)).toEqual({ remote: 'blog', reason: 'unreachable' });

  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.goBack();
  await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  await page.unroute('**/remotes/blog/**');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
  await theConsoleTellsOfNothingElse(said);
});

test('a remote that is slow is waited for, and after eight seconds the visitor is told', async ({
  page,
}) => {
  const letGo = await hold(page, '**/remotes/careers/remoteEntry.js');
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  const reports = reportsOf(page);
  await page.getByRole('link', { name: 'Careers', exact: true }).first().click();
  await expect(page.getByText('Loading…')).toBeVisible();
  await page.waitForTimeout(4_000);
  expect(await page.getByText(FAILED).isVisible()).toBe(false);
  await expect(page.getByText(FAILED)).toBeVisible();
  await expect.poll(() => reports).toEqual([{ remote: 'careers', reason: 'slow' }]);

  letGo();
  await expect(page.getByRole('button', { name: 'Apply Now' }).first()).toBeVisible();
  await expect(page.getByText(FAILED)).toBeHidden();
});

const FAULTS = {
  'is down': { reason: 'unreachable', file: '**/remotes/careers/**', answer: abort },
  'has a corrupt entry': {
    reason: 'broken',
    file: '**/remotes/careers/remoteEntry.js',
    answer: answer('throw new Error("corrupt")'),
  },
  'answers with a page instead of its entry': {
    reason: 'broken',
    file: '**/remotes/careers/remoteEntry.js',
    answer: answer('<!doctype html><title>Oops</title>'),
  },
  'has a corrupt part': {
    reason: 'broken',
    file: '**/remotes/careers/assets/careers-page.*.js',
    answer: answer('throw new Error("corrupt")'),
  },
};

for (const [fault, { reason, file, answer }] of Object.entries(FAULTS)) {
  test(`a remote that ${fault} at first load: its page is read as it was rendered, and taken over after Retry`, async ({
    page,
    said,
    uncaught,
  }) => {
    const reports = reportsOf(page);
    await page.route(file, answer);
    await page.goto('/careers');
    await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
    await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await expect(page.locator('html')).toHaveClass(/dark/);
    await expect.poll(() => reports.at(-1)).toEqual({ remote: 'careers', reason });

    await page.unroute(file);
    await page.getByRole('button', { name: 'Retry' }).click();
    await worksAgain(page);
    onlyTheFaultItself(said, uncaught);
  });

  test(`a remote that ${fault} when it is gone to: the rest works, and it is there after Retry`, async ({
    page,
    said,
    uncaught,
  }) => {
    await page.goto('/about');
    await hydrated(page.locator('main h1'));
    await page.route(file, answer);
    await page.getByRole('link', { name: 'Careers', exact: true }).first().click();
    await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
    await expect(page.getByRole('button', { name: 'Apply Now' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await expect(page.locator('html')).toHaveClass(/dark/);

    await page.unroute(file);
    await page.getByRole('button', { name: 'Retry' }).click();
    await worksAgain(page);
    onlyTheFaultItself(said, uncaught);
  });
}

test('a remote that is slow at first load: its page is read as it was rendered, and after eight seconds the visitor is told', async ({
  page,
  said,
}) => {
  const reports = reportsOf(page);
  const letGo = await hold(page, '**/remotes/careers/remoteEntry.js');
  await page.goto('/careers');
  await expect(page.getByText('Computer Vision Intern').first()).toBeVisible();
  await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  expect(reports).toEqual([{ remote: 'careers', reason: 'slow' }]);
  letGo();
  await worksAgain(page);
  onlyTheFaultItself(said, []);
});

test('a part that every build lacks is asked for in the new one once, and then said to be missing', async ({
  page,
  said,
}) => {
  const loads: string[] = [];
  page.on('load', () => loads.push(page.url()));
  await page.route('**/remotes/careers/assets/careers-page.*.js', route =>
    route.fulfill({ status: 404 }),
  );
  await page.goto('/careers');
  await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
  expect(loads).toHaveLength(2);
  for (const text of said.splice(0)) {
    expect(text).toMatch(/404|Federation Runtime|preloaded/);
  }
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
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
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
  const opener = page.getByRole('button', { name: 'Apply Now' }).first();
  await hydrated(opener);
  await opener.click();
  await expect(page.getByRole('dialog')).toBeVisible();
}

/** A script that is no script is for the browser to complain of; that what is ours throws is not. */
function onlyTheFaultItself(said: string[], uncaught: string[]) {
  for (const text of uncaught.splice(0)) {
    expect(text).toMatch(/corrupt|Unexpected token '<'/);
  }
  for (const text of said.splice(0)) {
    expect(text).toEqual(UNREACHABLE);
  }
}

/** What the page tells the operators of. */
function reportsOf(page: Page): unknown[] {
  const reports: unknown[] = [];
  page.on('request', request => {
    if (request.url().endsWith('/api/remote-failure')) {
      reports.push(request.postDataJSON());
    }
  });
  return reports;
}

/** Holds back a file until the returned function is called. */
async function hold(page: Page, file: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(file, async route => {
    await promise;
    await route.continue();
  });
  return resolve;
}

async function theConsoleTellsOfNothingElse(said: string[]) {
  for (const text of said.splice(0)) {
    expect(text).toEqual(UNREACHABLE);
  }
}
