import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, expectConsole, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

// What a form says in each case of section 8 of the specification, the form's own tests show.

const FAILED = 'This part of the site did not load';
const UNREACHABLE = { remote: 'shell', reason: 'unreachable' };

test('a page of the shell whose file is lost is loaded and read, the rest works, and Retry hydrates it', async ({
  page,
  consoleMessages,
}) => {
  const reports = reportsOf(page);
  await page.clock.install();
  await page.goto('/');
  await hydrated(page.locator('main h1'));
  await page.route('**/assets/about.*.js', route => route.abort());
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await untilReported(page, reports, UNREACHABLE);
  await expect(page.getByText(FAILED)).toBeVisible();
  // The rest of the site goes on.
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
  'a page’s file': { file: '**/assets/contact.*.js', to: contact },
  'a remote’s entry': { file: '**/remotes/careers/remoteEntry.js', to: careers },
  'a file of a remote’s page': { file: '**/careers/assets/careers-page.*.js', to: careers },
  'a remote’s stylesheet': { file: '**/careers/assets/styles.*.css', to: careers },
};

for (const [what, { file, to }] of Object.entries(HANGING)) {
  test(`while ${what} hangs the page that is gone to is loaded, and read`, async ({
    page,
    consoleMessages,
  }) => {
    await page.clock.install();
    await page.goto('/about');
    const heading = page.locator('main h1');
    await hydrated(heading);
    // Whoever asks for an address while it hangs waits, too.
    await page.route(file, () => undefined);
    await page.getByRole('link', { name: to.link, exact: true }).first().click();
    await advanceClockUntil(page, () => expect(heading).toHaveText(to.title, { timeout: 100 }));
    // Of what it preloads, and then waits for.
    consoleMessages.splice(0);
  });
}

test('a part of the home page that is lost leaves the page as it was rendered, and is there after Retry', async ({
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
