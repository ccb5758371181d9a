import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLES } from '../../../kit/testing/sample-paths.ts';

/** Pages of all front ends. Each has elements that `kit/src/reveal.tsx` reveals. */
const REVEALED = [SAMPLES.home, SAMPLES.services, SAMPLES.blogList, SAMPLES.careers];

test.use({ contextOptions: { reducedMotion: 'no-preference' } });

test('page headers fade up after 100 ms, in 700 ms (section 9)', async ({ page }) => {
  for (const route of ['/', '/?variant=impact', '/services', '/blog', '/blog/ai-advancements']) {
    await page.goto(route);
    const entrance = await page.locator('.fade-up').first().evaluate(styleOf);
    expect(entrance).toEqual({ name: 'fade-up', delay: '0.1s', duration: '0.7s' });
    await expect(page.locator('.fade-up').filter({ has: page.locator('h1') })).toHaveCount(1);
  }
});

test('elements already in view fade up with the page (section 2)', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 4000 });
  await page.goto('/about');
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const card = page.locator('#methodology [data-reveal]').first();
  await expect(card).toHaveAttribute('data-reveal', 'arriving');
  expect(await card.evaluate(styleOf)).toMatchObject({ name: 'fade-up', delay: '0.1s' });
});

for (const route of REVEALED) {
  test(`${route} reveals sections and cards in the viewport (sections 2 and 9)`, async ({
    page,
  }) => {
    await page.setViewportSize({ width: 1280, height: 600 });
    await page.goto(route);
    const parts = page.locator('main :is(section, article):not(:has(article))');
    const below = () =>
      parts.evaluateAll(all =>
        all
          .filter(part => part.getBoundingClientRect().top > innerHeight)
          // Parts that load near the viewport are not hydrated yet.
          .filter(part => Object.keys(part).some(key => key.startsWith('__react')))
          .map(part => (part.matches('[data-reveal]') ? part : part.querySelector('[data-reveal]')))
          .map(part => (part instanceof HTMLElement ? part.dataset['reveal'] : 'not at all')),
      );
    await expect.poll(async () => new Set(await below())).toEqual(new Set(['hidden']));
    expect((await below()).length).toBeGreaterThan(1);
    await expect(async () => {
      await page.mouse.wheel(0, 300);
      await expect(page.locator('[data-reveal=hidden]')).toHaveCount(0, { timeout: 50 });
    }).toPass({ intervals: [0] });
  });
}

test('nothing moves with reduced motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  expect((await page.locator('.fade-up').first().evaluate(styleOf)).name).toBe('none');
  const moving = await page
    .locator('.site-header *')
    .evaluateAll(all =>
      all.filter(element => /height|transform/.test(getComputedStyle(element).transitionProperty)),
    );
  expect(moving).toEqual([]);
});

test('a tooltip opens on hover and keyboard focus (section 9)', async ({ page }) => {
  await page.clock.install();
  await page.goto('/');
  const tooltip = page.locator('[data-tooltip]');
  const themeSwitch = page.getByRole('button', { name: 'Dark theme' });
  await themeSwitch.hover();
  await page.clock.runFor(700);
  await expect(tooltip).toHaveText('Dark theme');
  await page.mouse.move(0, 300);
  await expect(tooltip).toHaveCount(0);

  await themeSwitch.focus();
  await page.keyboard.press('Shift+Tab');
  await expect(tooltip).toHaveCount(0);
  await page.keyboard.press('Tab');
  await expect(tooltip).toHaveText('Dark theme');
});

test('a click on a prefetched page requests no code', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto('/');
  expect(asked.filter(isPage)).toEqual([]);
  await page.mouse.move(200, 300);
  await expect.poll(() => asked.filter(isPage).length).toBeGreaterThan(3);
  await page.waitForLoadState('networkidle');

  const known = asked.filter(isPage).length;
  for (const [link, heading] of [
    ['About', 'Pioneering AI Security'],
    ['Solutions', 'Advanced Security Solutions'],
    ['Services', 'Tailored Security Services'],
    ['Contact', "Let's Connect"],
  ] as const) {
    await page.getByRole('banner').getByRole('link', { name: link, exact: true }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(heading);
  }
  expect(asked.filter(isPage)).toHaveLength(known);
});

function isPage(url: string): boolean {
  return /assets\/(about|contact|services|solutions)\.\w+\.js$/.test(url);
}

test('pages change with a view transition', async ({ page }) => {
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
