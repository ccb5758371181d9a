import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { showPersistentToast } from './show-toast.ts';

/** Widths of a phone's and of a desktop's window. */
export const VIEWPORT_WIDTHS_PX = { phone: 390, desktop: 1440 } as const;
export const VIEWPORT_HEIGHT_PX = 900;

/** A page with something open in it. */
interface OpenState {
  name: string;
  route: string;
  /** Viewport in which it can be opened; every one, if nothing is said. */
  only?: keyof typeof VIEWPORT_WIDTHS_PX;
  open: (page: Page) => Promise<void>;
}

/** Each dialog, menu, list and toast of the site, open. */
export const OPEN_STATES: readonly OpenState[] = [
  { name: 'the menu of a desktop', route: '/', only: 'desktop', open: openServices },
  {
    name: 'the menu of a phone',
    route: '/',
    only: 'phone',
    async open(page) {
      await page.getByRole('button', { name: 'Menu' }).click();
      await openServices(page);
    },
  },
  {
    name: 'an open question and a failed form',
    route: '/contact',
    async open(page) {
      await page.locator('main summary').first().click();
      await page.getByLabel('Full Name').fill('Asha');
      await page.getByLabel('Email Address').fill('asha@example.com');
      await page.getByLabel('Your Message').fill('x'.repeat(9_500));
      await page.getByText('500 characters left').waitFor();
      await page.route('**/api/contact', route =>
        route.fulfill({
          status: 422,
          json: { success: false, message: 'Look again.', fields: { name: 'Too short.' } },
        }),
      );
      await page.getByRole('button', { name: 'Send Message' }).click();
      await page.getByText('Too short.').waitFor();
    },
  },
  { name: 'the application', route: '/careers', open: openApplication },
  {
    name: 'the application with its errors',
    route: '/careers',
    async open(page) {
      await openApplication(page);
      const modal = page.getByRole('dialog');
      for (const label of ['Full Name', 'Position', 'Cover Letter']) {
        await modal.getByLabel(label).fill('Ravi');
      }
      await modal.getByLabel('Email').fill('ravi@example.com');
      await modal.getByRole('button', { name: 'Submit Application' }).click();
      await modal.locator('[aria-invalid=true]').first().waitFor();
    },
  },
  {
    name: 'an open position',
    route: '/careers',
    async open(page) {
      await page.locator('main summary').first().click();
      await page.locator('main details[open]').waitFor();
    },
  },
  {
    name: 'the newsletter’s window',
    route: '/?newsletter=unsubscribe&token=any',
    async open(page) {
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'a tooltip and the toasts',
    route: '/about',
    async open(page) {
      await page.getByRole('button', { name: 'Dark theme' }).focus();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      await page.locator('[data-tooltip]').waitFor();
      for (const kind of ['success', 'error', 'overlay'] as const) {
        await showPersistentToast(page, `A ${kind}`, kind);
      }
      await page.getByText('A overlay').waitFor();
    },
  },
];

/** Shows a page in a theme, whatever the visitor wants. */
export async function showTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(
    name => document.documentElement.classList.toggle('dark', name === 'dark'),
    theme,
  );
}

/** Violations that axe finds in what is shown, by all its rules. */
export async function violationsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    // Without legacy mode axe opens a page of its own for each analysis, for frames of other origins.
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

async function openServices(page: Page) {
  await page.getByLabel('All services').filter({ visible: true }).click();
  await page
    .getByRole('link', { name: /Retail Security/ })
    .filter({ visible: true })
    .first()
    .waitFor();
}

async function openApplication(page: Page) {
  await page.getByRole('link', { name: 'Apply Now' }).first().click();
  await page.getByRole('dialog').waitFor();
}
