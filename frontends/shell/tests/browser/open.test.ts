import { expect, expectAccessible, hydrated, tell, test } from '../../../kit/testing/browser.ts';

// What axe finds where something is open: in both themes, on a phone and on a desktop.

const WIDTHS = { phone: 390, desktop: 1440 } as const;

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [device, width] of Object.entries(WIDTHS)) {
    const where = `${colorScheme}, ${device}`;

    test.describe(where, () => {
      test.use({ viewport: { width, height: 900 } });
      test.beforeEach(({ page }) => page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }));

      test(`axe finds nothing in the open menu: ${where}`, async ({ page }) => {
        await page.goto('/');
        const first = device === 'phone' ? 'Menu' : 'All services';
        await hydrated(page.getByRole('button', { name: first }));
        if (device === 'phone') {
          await page.getByRole('button', { name: 'Menu' }).click();
        }
        await page.getByRole('button', { name: 'All services' }).click();
        await expect(page.getByRole('link', { name: /Retail Security/ }).first()).toBeVisible();
        await expectAccessible(page);
      });

      test(`axe finds nothing in an open question and a failed form: ${where}`, async ({
        page,
        said,
      }) => {
        await page.goto('/contact');
        await page.locator('summary').first().click();
        await page.getByLabel('Full Name').fill('Asha');
        await page.getByLabel('Email Address').fill('asha@example.com');
        await page.getByLabel('Your Message').fill('x'.repeat(9_500));
        await expect(page.getByText('500 characters left')).toBeVisible();
        await page.route('**/api/contact', route =>
          route.fulfill({
            status: 422,
            json: { success: false, message: 'Look again.', fields: { name: 'Too short.' } },
          }),
        );
        await page.getByRole('button', { name: 'Send Message' }).click();
        await expect(page.getByText('Too short.')).toBeVisible();
        await expectAccessible(page);
        expect(said.splice(0)).toHaveLength(2);
      });

      test(`axe finds nothing in the open application with its errors: ${where}`, async ({
        page,
        said,
      }) => {
        await page.goto('/careers');
        await page.getByRole('button', { name: 'Apply Now' }).click();
        const modal = page.getByRole('dialog');
        await expect(modal).toBeVisible();
        await expectAccessible(page);
        for (const label of ['Full Name', 'Position', 'Cover Letter']) {
          await modal.getByLabel(label).fill('Ravi');
        }
        await modal.getByLabel('Email').fill('ravi@example.com');
        await modal.getByRole('button', { name: 'Submit Application' }).click();
        await expect(modal.locator('[aria-invalid=true]').first()).toBeVisible();
        await expectAccessible(page);
        said.splice(0);
      });

      test(`axe finds nothing in an open position and the newsletter’s window: ${where}`, async ({
        page,
      }) => {
        await page.goto('/careers');
        await page.locator('summary').first().click();
        await expect(page.locator('details[open]')).toHaveCount(1);
        await expectAccessible(page);
        await page.goto('/?newsletter=unsubscribe&token=any');
        await expect(page.getByRole('dialog')).toBeVisible();
        await expectAccessible(page);
      });

      test(`axe finds nothing in a tooltip and the notices: ${where}`, async ({ page }) => {
        await page.goto('/about');
        await page.getByRole('button', { name: 'Dark theme' }).focus();
        await page.keyboard.press('Shift+Tab');
        await page.keyboard.press('Tab');
        await expect(page.locator('[data-tooltip]')).toBeVisible();
        for (const kind of ['success', 'error', 'overlay'] as const) {
          await tell(page, `A ${kind}`, kind);
        }
        await expect(page.getByText('A overlay')).toBeVisible();
        await expectAccessible(page);
      });
    });
  }
}
