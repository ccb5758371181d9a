import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';

test('the index stays in view and links to each solution', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/solutions');
  await hydrated(page.locator('main h1'));
  const index = page.getByRole('navigation', { name: 'Solutions' });
  await index.getByRole('link', { name: 'Access Control' }).click();
  await expect(page).toHaveURL('/solutions#access-control');
  await expect(page.locator('#access-control')).toBeInViewport();
  await expect(index.getByRole('link', { name: 'Advanced Threat Detection' })).toBeInViewport();
});

test('a URL with a fragment shows its solution', async ({ page }) => {
  await page.goto('/solutions#data-protection');
  await expect(page.locator('#data-protection')).toBeInViewport();
});
