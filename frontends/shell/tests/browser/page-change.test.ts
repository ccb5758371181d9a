import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, expectConsole, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';

test('a link focuses the new heading and announces the title', async ({ page }) => {
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

test('the mobile menu moves the focus into the new page', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  await page.getByRole('button', { name: 'Menu' }).click();
  await page
    .getByRole('navigation', { name: 'Menu' })
    .getByRole('link', { name: 'Contact', exact: true })
    .click();
  await expect(page.getByRole('heading', { name: "Let's Connect" })).toBeFocused();
});

test('a link to the current page keeps the focus', async ({ page }) => {
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

test('back and forward restore the position, announce the page', async ({ page }) => {
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

test('a fragment link waits for its page to load', async ({ page }) => {
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

test('a hash link keeps prerendered HTML before hydration', async ({ page }) => {
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

/** Changes seen in real extensions. */
const EXTENSIONS = {
  'has removed the description': () => document.querySelector('meta[name=description]')?.remove(),
  'has removed the canonical address': () =>
    document.querySelector('link[rel=canonical]')?.remove(),
  'has removed the title': () => document.querySelector('title')?.remove(),
  'has removed the previews’ tags': () => {
    for (const tag of document.querySelectorAll('meta[property], meta[name^=twitter]')) {
      tag.remove();
    }
  },
  'has written a title of its own': () =>
    document.querySelector('title')?.replaceWith(document.createElement('title')),
  'has removed the data for search engines': () =>
    document.querySelector('script[type="application/ld+json"]')?.remove(),
  'has removed the page’s header': () => document.querySelector('main header')?.remove(),
  'has wrapped what the page shows': () => {
    const area = document.querySelector('main [data-area]');
    area?.replaceWith(document.createElement('div'));
    document.querySelector('main div')?.append(area ?? '');
  },
  'has emptied the page': () => document.querySelector('main')?.replaceChildren(),
  'has written the page anew': () => {
    const root = document.querySelector('#root');
    root?.replaceChildren(...Array.from(root.childNodes, node => node.cloneNode(true)));
  },
} satisfies Record<string, () => void>;

for (const [what, meddle] of Object.entries(EXTENSIONS)) {
  test(`a link shows its page after an extension ${what}`, async ({
    page,
    consoleMessages,
    pageErrors,
  }) => {
    await page.goto('/contact');
    await page.evaluate(meddle);
    for (const [link, heading, title] of [
      ['About', 'Pioneering AI Security', 'About | Oculant'],
      ['Careers', 'Teach machines to notice', 'Careers | Oculant'],
    ] as const) {
      await page.getByRole('link', { name: link, exact: true }).first().click();
      // Until the page is loaded, the error's heading may stand beside the old one.
      await expect(page.locator('main h1')).toHaveText([heading]);
      await expect(page).toHaveTitle(title);
      await expect(page.locator('title')).toHaveCount(1);
      const path = new URL(page.url()).pathname;
      await expect(page.locator('link[rel=canonical]')).toHaveAttribute('href', RegExp(`${path}$`));
    }
    await page.goBack();
    await expect(page.locator('main h1')).toHaveText('Pioneering AI Security');
    // React may log errors about the extension's changes, even when the test leaves the page.
    await page.goto('/terms');
    consoleMessages.splice(0);
    pageErrors.splice(0);
  });
}

test('the browser loads each page whose chunk is lost', async ({ page, consoleMessages }) => {
  await page.goto('/terms');
  await page.clock.install();
  await page.route('**/assets/{about,contact}.*.js', route => route.abort());
  for (const [link, heading] of [
    ['About', 'Pioneering AI Security'],
    ['Contact', "Let's Connect"],
  ] as const) {
    await page.evaluate(() => scrollTo(0, 500));
    await page.getByRole('link', { name: link, exact: true }).first().click();
    await advanceClockUntil(page, () =>
      expect(page.locator('main h1')).toHaveText(heading, { timeout: 100 }),
    );
    expect(await page.evaluate(() => scrollY)).toBe(0);
  }
  expectConsole(consoleMessages, /ERR_FAILED|preloaded/);
});

test('offline, the visitor sees an error and stays', async ({ page, context, consoleMessages }) => {
  await page.goto('/terms');
  await page.clock.install();
  await context.setOffline(true);
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await advanceClockUntil(page, () =>
    expect(page.getByText(/^This page did not load$/)).toBeVisible({ timeout: 100 }),
  );
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.locator('main h1')).toHaveText('Pioneering AI Security');
  expectConsole(consoleMessages, /INTERNET_DISCONNECTED/);
});
