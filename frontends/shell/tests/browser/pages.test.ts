import type { Page } from '@playwright/test';
import {
  expect,
  expectAccessible,
  expectFits,
  hydrated,
  test,
} from '../../../kit/testing/browser.ts';

const ROUTES = {
  '/': 'Your cameras already see it. Now someone notices.',
  '/about': 'Pioneering AI Security',
  '/contact': "Let's Connect",
  '/blog/ai-advancements': /.+/,
  '/blog': /.+/,
  '/services': 'Tailored Security Services',
  '/services/traffic-public-safety': /.+/,
  '/solutions': 'Advanced Security Solutions',
  '/privacy': 'Privacy Policy',
  '/terms': 'Terms of Service',
  '/careers': /.+/,
};

for (const [route, heading] of Object.entries(ROUTES)) {
  test(`${route} is taken over by React without a word`, async ({ page }) => {
    const answer = await page.goto(route);
    expect(answer?.status()).toBe(200);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
    await expect(page).toHaveTitle(/Oculant/);
    await expect(page.locator('head meta[name="description"]')).toHaveCount(1);
    await expect(page.locator('head title')).toHaveCount(1);
    await expect(page.locator('link[rel="canonical"]')).toHaveAttribute(
      'href',
      `https://oculant.example${route}`,
    );
  });

  test(`${route} is read without JavaScript`, async ({ browser, stack }) => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(stack.site + route);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByText('Loading…')).toHaveCount(0);
    await context.close();
  });

  test(`${route} has nothing for axe to find, in both themes, and fits 320 pixels and fingers`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(route);
    await expectAccessibleAt(page, [390, 1440]);
    await expectFits(page, 320, 640);
    // A desktop of 1280 by 800 at 200 %.
    await expectFits(page, 640, 400);
    expect(await smallTargets(page)).toEqual([]);
  });
}

for (const [route, heading] of [
  ['/no-such-page', 'Oops! Page not found'],
  ['/blog/no-such-post', 'Blog Post Not Found'],
  ['/services/no-such-service', 'Service Not Found'],
] as const) {
  test(`${route} is answered with status 404 and a page that leads on`, async ({ page, said }) => {
    const answer = await page.goto(route);
    expect(answer?.status()).toBe(404);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
    await expect(page.getByRole('contentinfo')).toBeVisible();
    expect(said.splice(0).filter(text => !text.startsWith('404: there is no page'))).toEqual([
      expect.stringContaining('status of 404'),
    ]);
  });
}

const OTHERS = [
  '/?variant=impact',
  ...['/no-such-page', '/blog/no-such-post', '/services/no-such-service'],
  ...['retail-wholesale-high-risk', 'banks-atms-financial', 'industry-smart-factories'].map(
    of('services'),
  ),
  ...['smart-cities-infrastructure', 'corporate-residential'].map(of('services')),
  ...['privacy-security', 'future-trends', 'facial-recognition', 'smart-home', 'case-study'].map(
    of('blog'),
  ),
];

for (const route of OTHERS) {
  test(`${route} has nothing for axe to find, in both themes, and fits 320 pixels`, async ({
    page,
    said,
  }) => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(route);
    await expectAccessibleAt(page, [320, 1440]);
    await expectFits(page, 320, 640);
    expect(said.splice(0).filter(text => !text.includes('404'))).toEqual([]);
  });
}

async function expectAccessibleAt(page: Page, widths: readonly number[]) {
  await hydrated(page.locator('main h1'));
  for (const theme of ['light', 'dark']) {
    await page.evaluate(
      name => document.documentElement.classList.toggle('dark', name === 'dark'),
      theme,
    );
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await expectAccessible(page, `${theme}, ${width} pixels`);
    }
  }
}

/** What can be pressed on a phone and is smaller than 44 pixels. */
async function smallTargets(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 390, height: 844 });
  return page
    .locator('button, summary, input:not([type=file]), textarea, a[data-kind], footer a')
    .evaluateAll(all =>
      all
        .filter(element => element.checkVisibility({ visibilityProperty: true }))
        .map(element => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 1 && (box.height < 44 || box.width < 24))
        .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} ${box.width}×${box.height}`),
    );
}

function of(parent: string) {
  return (id: string) => `/${parent}/${id}`;
}

test('the 404 page leads home', async ({ page, said }) => {
  await page.goto('/no-such-page');
  await hydrated(page.locator('main h1'));
  await page.getByRole('link', { name: 'Return to Home' }).click();
  await expect(page).toHaveURL('/');
  expect(said.splice(0).join()).toContain('/no-such-page');
});

test('an overview name of a service leads to its page', async ({ page }) => {
  await page.goto('/services/retail');
  await expect(page).toHaveURL('/services/retail-wholesale-high-risk');
});

test('every page is shown from its top', async ({ page }) => {
  await page.goto('/terms');
  await hydrated(page.locator('main h1'));
  await page.evaluate(() => scrollTo(0, 900));
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
});
