import {
  expect,
  hydrated,
  showPersistentToast,
  test,
} from '../../../kit/testing/playwright-fixtures.ts';

// Unit tests cover how long toasts stay.

test('three toasts show at bottom right; Alt+T focuses them (section 9)', async ({ page }) => {
  await page.goto('/about');
  await hydrated(page.locator('main h1'));
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    await showPersistentToast(page, title);
  }
  const region = page.getByRole('region', { name: /^Notifications/ });
  const corner = region.locator('[data-sonner-toaster]');
  await expect(corner).toHaveAttribute('data-x-position', 'right');
  await expect(corner).toHaveAttribute('data-y-position', 'bottom');
  await expect(region.locator('[data-visible="true"]')).toHaveCount(3);
  await expect(region.getByText('Four', { exact: true })).toBeVisible();
  await page.keyboard.press('Alt+KeyT');
  await expect(corner).toBeFocused();
});
