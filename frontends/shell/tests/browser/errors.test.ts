import { expect, hydrated, test } from '../../../kit/testing/browser.ts';
import { passUntil } from '../../../kit/testing/page-time.ts';

// What a form says in each case of section 8 of the specification, the form's own tests show.

test('a page that cannot be loaded (section 8)', async ({ page, said }) => {
  await page.clock.install();
  await page.goto('/');
  await hydrated(page.locator('main h1'));
  await page.route('**/assets/about.*.js', route => route.abort());
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  const heading = page.getByRole('heading', { name: 'Unexpected Application Error!' });
  await passUntil(page, () => expect(heading).toBeVisible({ timeout: 100 }));
  await expect(page.locator('main').getByText(/about/)).toBeVisible();
  // The rest of the site goes on.
  await page.getByRole('link', { name: 'Contact', exact: true }).first().click();
  await expect(page.getByLabel('Full Name')).toBeVisible();
  said.splice(0);
});
