import type { Page } from '@playwright/test';
import { HEIGHT, WIDTHS } from '../../../build/accessibility.ts';
import {
  expect,
  expectAccessible,
  expectFits,
  hydrated,
  test,
} from '../../../kit/testing/browser.ts';

/** One page of each template, and how it is headed. */
const TEMPLATES = {
  '/': 'Your cameras already see it. Now someone notices.',
  '/?variant=impact': 'AI. DATA. IMPACT.',
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
  '/careers/apply': 'Apply for an internship',
  '/careers/applied': 'Application Submitted!',
  '/contact/sent': 'Message Sent Successfully!',
  '/no-such-page': 'Oops! Page not found',
};

for (const [route, heading] of Object.entries(TEMPLATES)) {
  test(`${route} is taken over by React without a word, has nothing for axe to find, and fits 320 pixels and fingers`, async ({
    page,
    said,
  }) => {
    await page.setViewportSize({ width: WIDTHS.desktop, height: HEIGHT });
    const answer = await page.goto(route);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
    const { served, shown } = await page.evaluate(headsOf, await answer?.text());
    expect(shown, 'what machines read of it').toEqual(served);
    await expectAccessible(page);
    await expectFits(page, 320, 640);
    // A desktop of 1280 by 800 at 200 %.
    await expectFits(page, 640, 400);
    expect(await smallTargets(page)).toEqual([]);
    expectNothingBut404(said);
  });
}

/** Other pages of the same templates. */
const OTHERS = {
  '/services/retail-wholesale-high-risk': /.+/,
  '/services/banks-atms-financial': /.+/,
  '/services/industry-smart-factories': /.+/,
  '/services/smart-cities-infrastructure': /.+/,
  '/services/corporate-residential': /.+/,
  '/blog/privacy-security': /.+/,
  '/blog/future-trends': /.+/,
  '/blog/facial-recognition': /.+/,
  '/blog/smart-home': /.+/,
  '/blog/case-study': /.+/,
  '/careers/apply/3': 'Apply: Computer Vision Intern',
  '/newsletter/subscribed': 'Thank you for subscribing!',
  '/careers/apply/no-such-position': 'Position Not Found',
  '/services/no-such-service': 'Service Not Found',
  '/blog/no-such-post': 'Blog Post Not Found',
};

test('every other page is taken over by React without a word, too, and fits 320 pixels', async ({
  page,
  said,
}) => {
  test.slow();
  await page.setViewportSize({ width: 320, height: 640 });
  for (const [route, heading] of Object.entries(OTHERS)) {
    await page.goto(route);
    await hydrated(page.locator('main h1'));
    await expect(page.getByRole('heading', { level: 1 }), route).toHaveText(heading);
    await expectFits(page, 320, 640);
  }
  expectNothingBut404(said);
});

test('the 404 page leads home, and names the path in the console', async ({ page, said }) => {
  await page.goto('/no-such-page');
  await page.getByRole('link', { name: 'Return to Home' }).click();
  await expect(page).toHaveURL('/');
  expect(said.splice(0).join()).toContain('/no-such-page');
});

test('every page is shown from its top', async ({ page }) => {
  await page.goto('/terms');
  await page.evaluate(() => scrollTo(0, 900));
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
});

/** What machines are told of a page: as it was served, which tests of the built site judge, and as React shows it. */
function headsOf(html = '') {
  const wordsOf = ({ head }: Document) =>
    Array.from(
      head.querySelectorAll('title, meta[name], meta[property], link[rel=canonical]'),
      ({ outerHTML }) => outerHTML,
    ).toSorted();
  const asServed = new DOMParser().parseFromString(html, 'text/html');
  return { served: wordsOf(asServed), shown: wordsOf(document) };
}

function expectNothingBut404(said: string[]) {
  const others = said.splice(0).filter(text => !/^404: there is no page|status of 404/.test(text));
  expect(others).toEqual([]);
}

/** What can be pressed on a phone and is smaller than 44 pixels. */
async function smallTargets(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: WIDTHS.phone, height: 844 });
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
