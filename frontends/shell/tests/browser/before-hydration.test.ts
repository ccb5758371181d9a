import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

// Clicks and input before hydration take effect after it.

/** Opens a page. Its application loads when the returned function is called. */
async function openEarly(page: Page, path: string, files = '**/*.js*'): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(files, async route => {
    await promise;
    await route.continue();
  });
  await page.goto(path, { waitUntil: 'commit' });
  await expect(page.locator('main h1')).toBeVisible();
  return resolve;
}

test('an early click on the theme switch takes effect', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  const start = await openEarly(page, '/about');
  const toggle = page.getByRole('button', { name: 'Dark theme' });
  await toggle.click();
  start();
  await expect(page.locator('html')).toHaveClass('dark');
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  await expect(page.locator('html')).not.toHaveClass('dark');
});

test('early clicks take effect if React replaces the page', async ({ page, pageErrors }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  const start = await openEarly(page, '/careers');
  await page.evaluate(() =>
    document.querySelector('#root')?.prepend(document.createElement('div')),
  );
  await page.getByRole('button', { name: 'Business', exact: true }).click();
  await page.getByRole('button', { name: 'Media', exact: true }).click();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  start();
  await expect(page.locator('html')).toHaveClass('dark');
  await expect(
    page.getByRole('button', { name: 'Media', exact: true, pressed: true }),
  ).toBeVisible();
  await expect(page.locator('main details')).toHaveCount(1);
  expect(pageErrors.splice(0).join()).toContain('#418');
});

for (const [when, files] of [
  ['the application', '**/*.js*'],
  ['the remote', '**/remotes/**/*.js*'],
] as const) {
  test(`a department chosen before ${when} loads filters the list`, async ({ page }) => {
    const start = await openEarly(page, '/careers', files);
    await page.getByRole('button', { name: 'Business', exact: true }).click();
    await page.getByRole('button', { name: 'Media', exact: true }).click();
    start();
    const chosen = page.getByRole('button', { name: 'Media', exact: true, pressed: true });
    await expect(chosen).toBeVisible();
    await expect(page.locator('main details')).toHaveCount(1);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await expect(page.locator('main details')).toHaveCount(10);
  });

  test(`words typed before ${when} loads are searched for`, async ({ page }) => {
    const start = await openEarly(page, '/blog', files);
    const field = page.getByRole('searchbox', { name: 'Search articles' });
    await field.pressSequentially('fork');
    start();
    await field.pressSequentially('lift');
    await expect(page.getByText('on “forklift”')).toHaveRole('status');
    await expect(page).toHaveURL('/blog?q=forklift');
    await expect(field).toHaveValue('forklift');
  });
}

test('an early click on “Show map” takes effect', async ({ page }) => {
  await page.route('https://www.openstreetmap.org/**', route => route.fulfill({ body: '' }));
  const start = await openEarly(page, '/contact');
  await page.getByRole('button', { name: 'Show map' }).press('Enter');
  start();
  await expect(page.getByTitle('Map of our office')).toBeVisible();
});
