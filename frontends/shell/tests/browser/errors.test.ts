import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, expectConsole, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

// The forms' own tests cover the messages of section 8 of the specification.

const FAILED = 'This part of the site did not load';
const UNREACHABLE = { remote: 'shell', reason: 'unreachable' };

test('a page without its chunk is loaded; Retry hydrates it', async ({ page, consoleMessages }) => {
  const reports = reportsOf(page);
  await page.clock.install();
  await page.goto('/');
  await hydrated(page.locator('main h1'));
  await page.route('**/assets/about.*.js', route => route.abort());
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await untilReported(page, reports, UNREACHABLE);
  await expect(page.getByText(FAILED)).toBeVisible();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await expect(page.locator('html')).toHaveClass(/dark/);
  await page.unroute('**/assets/about.*.js');
  await page.getByRole('button', { name: 'Retry' }).click();
  await hydrated(page.locator('main h1'));
  await expect(page.getByText(FAILED)).toBeHidden();
  expectConsole(consoleMessages, /ERR_FAILED|preloaded/);
});

const contact = { link: 'Contact', title: "Let's Connect" };
const careers = { link: 'Careers', title: 'Teach machines to notice' };
const HANGING = {
  chunk: { file: '**/assets/contact.*.js', to: contact },
  'remote entry': { file: '**/remotes/careers/remoteEntry.js', to: careers },
  'remote chunk': { file: '**/careers/assets/careers-page.*.js', to: careers },
  'remote stylesheet': { file: '**/careers/assets/styles.*.css', to: careers },
};

for (const [what, { file, to }] of Object.entries(HANGING)) {
  test(`a page whose ${what} hangs is loaded by the browser`, async ({ page, consoleMessages }) => {
    await page.clock.install();
    await page.goto('/about');
    const heading = page.locator('main h1');
    await hydrated(heading);
    // All attempts hang, including retries.
    await page.route(file, () => undefined);
    await page.getByRole('link', { name: to.link, exact: true }).first().click();
    await advanceClockUntil(page, () => expect(heading).toHaveText(to.title, { timeout: 100 }));
    // The browser complains of preloaded files that it does not use yet.
    consoleMessages.splice(0);
  });
}

test('a lost part keeps its prerendered HTML; Retry hydrates it', async ({
  page,
  consoleMessages,
}) => {
  const reports = reportsOf(page);
  await page.clock.install();
  await page.route('**/assets/solutions-preview.*.js', route => route.abort());
  await page.goto('/');
  await hydrated(page.locator('main h1'));
  const area = page.locator('[data-area=shell]', { hasText: 'Twelve solutions' });
  await area.scrollIntoViewIfNeeded();
  await untilReported(page, reports, UNREACHABLE);
  await expect(area.getByText(FAILED)).toBeVisible();
  await expect(page.locator('main h1')).toBeVisible();
  await expect(area.getByRole('heading', { level: 2 })).toBeVisible();
  await page.unroute('**/assets/solutions-preview.*.js');
  await area.getByRole('button', { name: 'Retry' }).click();
  await expect(area.getByText(FAILED)).toBeHidden();
  expectConsole(consoleMessages, /ERR_FAILED/);
});
