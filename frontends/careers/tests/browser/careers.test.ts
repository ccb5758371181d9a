import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';

test('a department narrows the list and says how many are left', { tag: '@standalone' }, async ({
  page,
}) => {
  await page.goto('/careers');
  await hydrated(page.locator('main h1'));
  const list = page.getByRole('region', { name: 'Open Positions' });
  await list.getByRole('button', { name: 'Engineering' }).click();
  await expect(list.locator('details')).toHaveCount(6);
  await expect(list.getByRole('status')).toHaveText('6 positions');
  await list.getByRole('button', { name: 'Media' }).click();
  await expect(list.getByRole('status')).toHaveText('1 position');
});

test('a position has an address that opens it', { tag: '@hosting' }, async ({ page }) => {
  await page.goto('/careers?position=7');
  const position = page.locator('#position-7 details');
  await expect(position).toHaveAttribute('open');
  await expect(position.getByText('in Rust, over gRPC')).toBeInViewport();
  await expect(page.locator('main details[open]')).toHaveCount(1);
});
