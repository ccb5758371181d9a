import { CHANGES, timeToPage } from '../../../build/route-change.ts';
import { expect, hydrated, tell, test } from '../../../kit/testing/browser.ts';

test('what heads a page fades up after 100 ms, in 700 ms (section 9)', async ({ page }) => {
  for (const route of ['/', '/services', '/blog']) {
    await page.goto(route);
    const entrance = await page.locator('.fade-up').first().evaluate(styleOf);
    expect(entrance).toEqual({ name: 'fade-up', delay: '0.1s', duration: '0.7s' });
    await expect(page.locator('.fade-up').filter({ has: page.locator('h1') })).toHaveCount(1);
  }
});

test('what is to be revealed but in view already fades up with the page (section 2)', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 4000 });
  await page.goto('/about');
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const card = page.locator('#methodology [data-reveal]').first();
  await expect(card).toHaveAttribute('data-reveal', 'arriving');
  expect(await card.evaluate(styleOf)).toMatchObject({ name: 'fade-up', delay: '0.1s' });
});

test('nothing moves for who wants no motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  expect((await page.locator('.fade-up').first().evaluate(styleOf)).name).toBe('none');
});

test('a tooltip opens after 700 ms, the next one at once within 300 ms (section 9)', async ({
  page,
  said,
}) => {
  await page.clock.install();
  await page.goto('/no-such-page');
  said.splice(0);
  await page.clock.pauseAt(Date.now() + 60_000);
  const links = page.getByRole('contentinfo').locator('a[target=_blank]');
  await links.first().scrollIntoViewIfNeeded();
  const tooltip = page.locator('[data-tooltip]');

  await links.first().hover();
  await page.clock.runFor(650);
  await expect(tooltip).toHaveCount(0);
  await page.clock.runFor(100);
  await expect(tooltip).toHaveText((await links.first().getAttribute('aria-label')) ?? 'a label');

  await links.nth(1).hover();
  await page.clock.runFor(10);
  await expect(tooltip).toHaveText((await links.nth(1).getAttribute('aria-label')) ?? 'a label');
  await page.keyboard.press('Escape');
  await expect(tooltip).toHaveCount(0);

  await page.mouse.move(0, 0);
  await page.clock.runFor(1000);
  await links.first().hover();
  await page.clock.runFor(650);
  await expect(tooltip).toHaveCount(0);
});

test('a tooltip comes with the keyboard’s focus', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Dark theme' }).focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await expect(page.locator('[data-tooltip]')).toHaveText('Dark theme');
});

test('an overlay notice takes the place of the one before and stays 5000 ms (section 9)', async ({
  page,
}) => {
  await page.goto('/about');
  await tell(page, 'First', 'overlay');
  await expect(page.getByText('First', { exact: true })).toBeVisible();
  await tell(page, 'Second', 'overlay');
  await expect(page.getByText('Second', { exact: true })).toBeVisible();
  await expect(page.getByText('First', { exact: true })).toHaveCount(0);
  await expect(page.locator('[data-sonner-toast]')).toHaveCount(1);
  const from = Date.now();
  await expect(page.getByText('Second', { exact: true })).toHaveCount(0, { timeout: 8_000 });
  expect(Date.now() - from).toBeGreaterThan(4000);
});

test('once pages are fetched ahead, a click asks the network for no code, and its page is there', async ({
  page,
}) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto('/');
  expect(asked.filter(isPage)).toEqual([]);
  await page.mouse.move(200, 300);
  await expect.poll(() => asked.filter(isPage).length).toBeGreaterThan(3);
  await page.waitForLoadState('networkidle');

  const known = asked.filter(isPage).length;
  // How long each takes is for the command `measure` to say: others use this machine, too.
  for (const [link, heading] of CHANGES) {
    await timeToPage(page, link, heading);
  }
  expect(asked.filter(isPage)).toHaveLength(known);
});

function isPage(url: string): boolean {
  return /assets\/(about|contact|services|solutions)\.\w+\.js$/.test(url);
}

test('pages change with a view transition where the browser has them', async ({ page }) => {
  await page.addInitScript(() => {
    const start = document.startViewTransition.bind(document);
    document.startViewTransition = update => {
      document.documentElement.dataset['transitions'] = 'yes';
      return start(update);
    };
  });
  await page.goto('/');
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await hydrated(page.getByRole('heading', { name: 'Pioneering AI Security' }));
  await expect(page.locator('html')).toHaveAttribute('data-transitions', 'yes');
});

function styleOf(element: Element) {
  const { animationName, animationDelay, animationDuration } = getComputedStyle(element);
  return { name: animationName, delay: animationDelay, duration: animationDuration };
}
