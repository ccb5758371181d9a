import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';

// Who listens, and who has no mouse, notices another page as they would notice another document.

test('a link leads the focus to the heading of its page, whose title is said, also where the page is a remote’s', async ({
  page,
}) => {
  await page.goto('/');
  const announcement = page.locator('p[aria-live]');
  const heading = page.locator('main h1');
  await expect(announcement).toBeEmpty();
  await expect(page.locator('body')).toBeFocused();
  const header = page.getByRole('banner').first();
  for (const [link, title] of [
    ['About', 'Pioneering AI Security'],
    ['Careers', 'Teach machines to notice'],
    ['Blogs', 'Insights, mostly about noticing'],
  ] as const) {
    await header.getByRole('link', { name: link, exact: true }).first().press('Enter');
    await expect(heading).toHaveText(title);
    await expect(heading).toBeFocused();
    await expect(announcement).toHaveText(await page.title());
    expect(await page.title()).toMatch(/^(About|Careers|Blog) \| Oculant$/);
  }
  await page.keyboard.press('Tab');
  await expect(page.locator('main :focus')).toHaveCount(1);
});

test('the menu of a phone leads the focus into the page, not back to its button', async ({
  page,
}) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page
    .getByRole('navigation', { name: 'Menu' })
    .getByRole('link', { name: 'Contact', exact: true })
    .click();
  await expect(page.getByRole('heading', { name: "Let's Connect" })).toBeFocused();
});

test('a link to the page that is shown keeps the focus, and closes the menu of a phone', async ({
  page,
}) => {
  await page.goto('/blog/category/trends');
  const link = page.getByRole('banner').getByRole('link', { name: 'Blogs', exact: true }).first();
  await link.press('Enter');
  await expect(page).toHaveURL('/blog');
  await expect(link).toBeFocused();

  await page.setViewportSize({ width: 390, height: 844 });
  const button = page.getByRole('button', { name: 'Menu' });
  await button.click();
  const menu = page.getByRole('navigation', { name: 'Menu' });
  await menu.getByRole('link', { name: 'Blogs', exact: true }).click();
  await expect(menu).toBeHidden();
  await expect(button).toBeFocused();
});

test('back and forward return to where the visitor was, and say which page it is', async ({
  page,
}) => {
  await page.goto('/terms');
  await page.evaluate(() => scrollTo(0, 900));
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  const announcement = page.locator('p[aria-live]');
  await expect(announcement).toHaveText('About | Oculant');
  expect(await page.evaluate(() => scrollY)).toBe(0);
  await page.evaluate(() => scrollTo(0, 300));
  await page.goBack();
  await expect(announcement).toHaveText('Terms of Service | Oculant');
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(900);
  await page.goForward();
  await expect(announcement).toHaveText('About | Oculant');
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(300);
});

test('a link to a part of a page that is not loaded yet leads there once it is', async ({
  page,
}) => {
  const held = Promise.withResolvers<void>();
  await page.route('**/assets/solutions.*.js', async route => {
    await held.promise;
    await route.continue();
  });
  await page.goto('/?variant=impact');
  await page.getByRole('link', { name: /^Real-time alerts and insights/ }).click();
  await expect(page.getByText('Loading…')).toBeVisible();
  await expect(page.locator('p[aria-live]')).toBeEmpty();
  held.resolve();
  await expect(page.locator('#smart-alert-system')).toBeInViewport();
  await expect(page.locator('p[aria-live]')).toHaveText('Solutions | Oculant');
  await hydrated(page.locator('main h1'));
});

test('a link within the page leaves what is not hydrated yet as it was rendered', async ({
  page,
}) => {
  await page.route('**/remotes/blog/remoteEntry.js', () => undefined);
  await page.goto('/');
  const teasers = page.locator('[data-area=blog] h3');
  await expect(teasers).toHaveCount(3);
  await page.getByRole('link', { name: 'See how it works' }).click();
  await expect(page).toHaveURL('/#methodology');
  await expect(page.locator('#methodology')).toBeInViewport();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await expect(page.getByRole('button', { name: 'Dark theme', pressed: true })).toBeVisible();
  await expect(teasers).toHaveCount(3);
  await page.goBack();
  await expect(page).toHaveURL('/');
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await page.goBack();
  await expect(page.locator('main h1')).toHaveText(/Your cameras/);
});
