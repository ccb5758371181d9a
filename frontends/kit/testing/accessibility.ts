import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { showPersistentToast } from './show-toast.ts';

export const VIEWPORT_WIDTHS_PX = { phone: 390, desktop: 1440 } as const;
export const VIEWPORT_HEIGHT_PX = 900;

interface OpenState {
  name: string;
  route: string;
  /** The only viewport in which the state can be opened. */
  only?: keyof typeof VIEWPORT_WIDTHS_PX;
  open: (page: Page) => Promise<void>;
}

/** All dialogs, menus, lists and toasts of the site. */
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

/** Overrides the visitor's theme. */
export async function showTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(
    name => document.documentElement.classList.toggle('dark', name === 'dark'),
    theme,
  );
}

export async function violationsOf(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    // Without legacy mode axe opens an extra page for each analysis, for cross-origin frames.
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
