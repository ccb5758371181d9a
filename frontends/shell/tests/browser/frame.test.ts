import { expect, test } from '../../../kit/testing/browser.ts';

test('the theme follows the system, then the visitor’s choice, which is kept, from the first paint (section 9)', async ({
  page,
}) => {
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

  // No script of ours but the one in the head may be needed for the right theme.
  await page.route('**/assets/*.js', route => route.fulfill({ body: '' }));
  await page.reload();
  await expect(page.locator('html')).not.toHaveClass('dark');
});

test('past 20 pixels the header gains a shadow and loses padding (sections 2 and 9)', async ({
  page,
}) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const height = () => header.evaluate(element => element.getBoundingClientRect().height);
  const high = await height();
  await page.evaluate(() => scrollTo(0, 20));
  await expect(header).toHaveAttribute('data-raised', 'false');
  await page.evaluate(() => scrollTo(0, 21));
  await expect(header).toHaveAttribute('data-raised', 'true');
  await expect.poll(height).toBeLessThan(high);
  await expect
    .poll(() => header.evaluate(element => getComputedStyle(element).boxShadow))
    .toContain('24px');
});

test('the services open in three columns by mouse and by keyboard, and close again', async ({
  page,
}) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const entry = header.getByRole('link', { name: /Retail Security/ });
  await header.getByRole('link', { name: 'Services', exact: true }).hover();
  await expect(entry).toBeVisible();
  const panel = header.getByRole('navigation', { name: 'Main' }).locator('li ul');
  const columns = await panel.evaluate(list => getComputedStyle(list).gridTemplateColumns);
  expect(columns.split(' ')).toHaveLength(3);
  await page.mouse.move(0, 600);
  await expect(entry).toBeHidden();

  const button = page.getByRole('button', { name: 'All services' });
  await button.focus();
  await page.keyboard.press('Enter');
  await expect(button).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('Escape');
  await expect(entry).toBeHidden();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await expect(entry).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/services/retail-wholesale-high-risk');
  await expect(entry).toBeHidden();
});

test('on a phone a menu opens, with one list of services in it, and closes on the way', async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.click();
  await expect(menu).toHaveAttribute('aria-expanded', 'true');
  await expect(header).toHaveAttribute('data-raised', 'true');
  await expect(page.getByRole('link', { name: 'Request Demo' })).toBeVisible();

  const services = page.getByRole('button', { name: 'All services' });
  await services.click();
  await expect(header.getByRole('link', { name: /Smart Cities/ })).toBeVisible();
  await services.click();
  await expect(header.getByRole('link', { name: /Smart Cities/ })).toBeHidden();

  await header.getByRole('link', { name: 'Contact', exact: true }).click();
  await expect(page).toHaveURL('/contact');
  await expect(menu).toHaveAttribute('aria-expanded', 'false');
});

test('the first stop of the keyboard leads to the content', async ({ page }) => {
  await page.goto('/');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
});
