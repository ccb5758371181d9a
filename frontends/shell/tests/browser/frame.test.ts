import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

test('the stored theme applies from the first paint (section 9)', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/');
  await expect(page.locator('html')).toHaveClass('dark');
  const toggle = page.getByRole('button', { name: 'Dark theme' });
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  const kept = () => page.evaluate(() => localStorage.getItem('theme'));
  expect(await kept()).toBeNull();
  await toggle.click();
  expect(await kept()).toBe('light');
  await expect(page.locator('html')).not.toHaveClass('dark');
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');

  // The theme must need only the script in the head.
  await page.route('**/assets/*.js', route => route.fulfill({ body: '' }));
  await page.reload();
  await expect(page.locator('html')).not.toHaveClass('dark');
});

test('without a choice the theme follows the system', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/');
  await expect(page.locator('html')).not.toHaveClass('dark');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('html')).toHaveClass('dark');
  await expect(page.getByRole('button', { name: 'Dark theme' })).toHaveAttribute(
    'aria-pressed',
    'true',
  );
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the theme switch is not shown', async ({ page }) => {
    await page.goto('/', { waitUntil: 'commit' });
    await expect(page.getByRole('link', { name: 'Get Demo', exact: true })).toBeVisible();
    await expect(page.locator('button[aria-label="Dark theme"]')).toHaveCount(1);
    await expect(page.locator('button[aria-label="Dark theme"]')).toBeHidden();
  });
});

test('after 20 pixels the header gains shadow, loses padding (sections 2 and 9)', async ({
  page,
}) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const height = () => header.evaluate(element => element.getBoundingClientRect().height);
  const high = await height();
  await page.evaluate(() => scrollTo(0, 20));
  await expect(header).toHaveAttribute('data-scrolled', 'false');
  await page.evaluate(() => scrollTo(0, 21));
  await expect(header).toHaveAttribute('data-scrolled', 'true');
  await expect.poll(height).toBeLessThan(high);
  await expect
    .poll(() => header.evaluate(element => getComputedStyle(element).boxShadow))
    .toContain('24px');
});

/**
 * Moves over everything between the places, as a hand does. The steps are few, so that the pointer arrives
 * quickly even on a busy machine.
 */
async function moveAlong(page: Page, places: Locator[]) {
  for (const place of places) {
    const box = await place.boundingBox();
    if (!box) {
      throw new Error(`${place} is not there`);
    }
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 6 });
  }
}

test('the services panel opens on hover and stays reachable', async ({ page }) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const link = header.getByRole('link', { name: 'Services', exact: true });
  const panel = header.locator('.services-panel');
  await moveAlong(page, [link]);
  await expect(panel).toBeVisible();
  const columns = await panel
    .locator('ul')
    .evaluate(list => getComputedStyle(list).gridTemplateColumns);
  expect(columns.split(' ')).toHaveLength(3);
  // The pointer moves straight down to some entries, and over the link's neighbour to others.
  for (const entry of await panel.getByRole('link').all()) {
    await moveAlong(page, [link]);
    await expect(panel).toBeVisible();
    await moveAlong(page, [entry]);
    await expect(entry).toBeVisible();
  }
  await page.keyboard.press('Escape');
  await expect(panel).toBeHidden();
  await page.mouse.move(0, 600, { steps: 60 });
  await moveAlong(page, [link]);
  await expect(panel).toBeVisible();
  await page.mouse.move(0, 600, { steps: 60 });
  await expect(panel).toBeHidden();
});

test('a panel opened by hover stays open on a click', async ({ page }) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const arrow = header.getByRole('button', { name: 'All services' });
  const entry = header.getByRole('link', { name: /Corporate Security/ });
  await moveAlong(page, [header.getByRole('link', { name: 'Services', exact: true }), arrow]);
  await page.mouse.down();
  await page.mouse.up();
  await expect(entry).toBeVisible();
  await moveAlong(page, [entry]);
  await page.mouse.down();
  await page.mouse.up();
  await expect(page).toHaveURL('/services/corporate-residential');
  await page.mouse.move(0, 600);
  await expect(entry).toBeHidden();
});

test('the services panel works by keyboard and keeps focus', async ({ page }) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const entry = header.getByRole('link', { name: /Retail Security/ });
  const button = page.getByRole('button', { name: 'All services' });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(entry).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(entry).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(entry).toBeHidden();
  await expect(button).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/services/retail-wholesale-high-risk');
  await expect(entry).toBeHidden();
});

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? 'on a phone' : 'on a phone without JavaScript', () => {
    test.use({ javaScriptEnabled, viewport: { width: 390, height: 844 } });

    test('the menu opens, lists the services, closes on navigation', async ({ page }) => {
      // Without JavaScript there is no application to wait for.
      await page.goto('/', { waitUntil: javaScriptEnabled ? 'load' : 'commit' });
      const header = page.getByRole('banner').first();
      const menu = page.getByRole('button', { name: 'Menu' });
      const height = () => header.evaluate(element => element.getBoundingClientRect().height);
      const high = javaScriptEnabled ? await height() : 0;
      await menu.click();
      await expect(page.getByRole('link', { name: 'Request Demo' })).toBeVisible();
      if (javaScriptEnabled) {
        await expect.poll(height).toBeLessThan(high);
      }
      const services = page.locator('.mobile-menu summary');
      await services.click();
      await expect(header.getByRole('link', { name: /Smart Cities/ })).toBeVisible();
      await services.click();
      await expect(header.getByRole('link', { name: /Smart Cities/ })).toBeHidden();

      await header.getByRole('link', { name: 'Contact', exact: true }).click();
      await expect(page).toHaveURL('/contact');
      await expect(page.getByRole('link', { name: 'Request Demo' })).toBeHidden();
    });
  });
}

test('the first tab stop skips to the content', async ({ page }) => {
  await page.goto('/');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
});
