import { expect, test } from '../../../kit/testing/browser.ts';

const UPDATED = 'April 30, 2025';

test('the privacy policy has its nine sections and what they promise (sections 2 and 9)', async ({
  page,
}) => {
  await page.goto('/privacy');
  const main = page.getByRole('main');
  await expect(main.getByText(UPDATED)).toBeVisible();
  await expect(main.getByRole('heading', { level: 2 })).toHaveCount(9);
  for (const topic of [/collect/i, /use/i, /disclos|share/i, /retain|retention|keep/i, /rights/i]) {
    await expect(main.getByRole('heading', { level: 2, name: topic }).first()).toBeVisible();
  }
  for (const words of [/portab/i, /withdraw/i, /complain/i, /under (the age of )?16/i, /Chennai/]) {
    await expect(main.getByText(words).first()).toBeVisible();
  }
  await expect(main.getByText(/@oculant\.example/).first()).toBeVisible();
});

test('the terms have their seven sections and what they settle (sections 2 and 9)', async ({
  page,
}) => {
  await page.goto('/terms');
  const main = page.getByRole('main');
  await expect(main.getByText(UPDATED)).toBeVisible();
  await expect(main.getByRole('heading', { level: 2 })).toHaveCount(7);
  for (const words of [/accurate/i, /revocable/i, /liab/i, /Chennai/, /30 days/]) {
    await expect(main.getByText(words).first()).toBeVisible();
  }
});

for (const route of ['/privacy', '/terms', '/contact']) {
  test(`${route} is headed by an icon and the way home (section 2)`, async ({ page }) => {
    await page.goto(route);
    const header = page.getByRole('main').locator('header').first();
    await expect(header.locator('svg').first()).toBeVisible();
    const breadcrumb = header.getByRole('navigation', { name: 'Breadcrumb' });
    await expect(breadcrumb.getByRole('link', { name: 'Home' })).toHaveAttribute('href', '/');
  });
}
