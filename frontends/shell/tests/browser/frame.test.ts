import { expect, hydrated, test } from '../../../kit/testing/browser.ts';

test('the theme follows the system, then the visitor’s choice, from the first paint', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/');
  await expect(page.locator('html')).toHaveClass('dark');
  const toggle = page.getByRole('button', { name: 'Dark theme' });
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  await toggle.click();
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

test('the services open by mouse and by keyboard, and close again', async ({ page }) => {
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const entry = header.getByRole('link', { name: /Retail Security/ });
  await header.getByRole('link', { name: 'Services', exact: true }).hover();
  await expect(entry).toBeVisible();
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

test('the header has its seven links, a panel of three columns with six services, and Get Demo (section 2)', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/');
  const header = page.getByRole('banner').first();
  const targets = await header
    .getByRole('navigation', { name: 'Main' })
    .locator('> ul > li > a')
    .evaluateAll(all => all.map(link => [link.textContent, link.getAttribute('href')].join(' ')));
  expect(targets).toEqual([
    'Home /',
    'About /about',
    'Solutions /solutions',
    'Services /services',
    'Blogs /blog',
    'Contact /contact',
    'Careers /careers',
  ]);
  await expect(header.getByRole('link', { name: 'Get Demo' })).toHaveAttribute('href', '/contact');
  const services = page.getByRole('button', { name: 'All services' });
  await hydrated(services);
  await services.click();
  const panel = header.getByRole('navigation', { name: 'Main' }).locator('li ul');
  const columns = await panel.evaluate(list => getComputedStyle(list).gridTemplateColumns);
  expect(columns.split(' ')).toHaveLength(3);
  await expect(panel.getByRole('link')).toHaveText([
    'Retail SecurityShop and wholesale security',
    'Bank SecurityFinancial institutions',
    'Industry SafetySmart factories',
    'Traffic SafetyPublic safety',
    'Smart CitiesGovernment infrastructure',
    'Corporate SecurityOffices and residential',
  ]);
  await expect(panel.locator('a > svg')).toHaveCount(6);
});

test('the theme is kept in the browser’s storage under a key of its own (section 9)', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/');
  const kept = () => page.evaluate(() => localStorage.getItem('theme'));
  expect(await kept()).toBeNull();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  expect(await kept()).toBe('dark');
});

test('the footer has its links, the contact details and the year (section 2)', async ({
  page,
  said,
}) => {
  await page.goto('/no-such-page');
  said.splice(0);
  const footer = page.getByRole('contentinfo');
  const targets = await footer
    .getByRole('link')
    .evaluateAll(all => all.map(link => link.getAttribute('href') ?? ''));
  for (const path of [
    ...['/', '/about', '/services', '/solutions', '/blog', '/contact', '/privacy', '/terms'],
    '/services/retail-wholesale-high-risk',
    '/services/banks-atms-financial',
    '/services/industry-smart-factories',
    '/services/smart-cities-infrastructure',
    'mailto:admin@oculant.example',
  ]) {
    expect(targets).toContain(path);
  }
  expect(targets.filter(target => target.startsWith('https://'))).toHaveLength(4);
  await expect(footer.getByText('+91 44 0000 0000')).toBeVisible();
  await expect(footer.getByText(/Chennai/)).toBeVisible();
  await expect(footer.getByText(new RegExp(`© ${new Date().getFullYear()}`))).toBeVisible();
});
