import { expect, hydrated, tell, test } from '../../../kit/testing/browser.ts';

test('notices appear at the bottom right, three at once, for four seconds (section 9)', async ({
  page,
}) => {
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    await tell(page, title);
  }
  const region = page.getByRole('region', { name: /^Notifications/ });
  await expect(region.locator('[data-sonner-toaster]')).toHaveAttribute('data-x-position', 'right');
  await expect(region.locator('[data-sonner-toaster]')).toHaveAttribute(
    'data-y-position',
    'bottom',
  );
  await expect(region.locator('[data-visible="true"]')).toHaveCount(3);
  await expect(region.getByText('Four', { exact: true })).toBeVisible();
  await page.mouse.move(0, 0);
  const from = Date.now();
  await expect(region.getByText('Four', { exact: true })).toBeHidden({ timeout: 6_000 });
  expect(Date.now() - from).toBeGreaterThan(2_500);
});

test('Alt+T leads the keyboard to the notices (section 9)', async ({ page }) => {
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  await tell(page, 'Something happened');
  await expect(page.getByText('Something happened')).toBeVisible();
  await page.keyboard.press('Alt+KeyT');
  await expect(page.locator('[data-sonner-toaster]')).toBeFocused();
});
