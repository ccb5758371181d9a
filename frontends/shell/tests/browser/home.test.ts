import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

test.describe('with motion', () => {
  test.use({ contextOptions: { reducedMotion: 'no-preference' } });

  test('an element fades in once a tenth is in view (section 9)', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 600 });
    await page.goto('/');
    const card = page.locator('#methodology [data-reveal-delay]').nth(4);
    await expect(card).toHaveAttribute('data-reveal', 'hidden');
    // Measured each time, because parts that load late move the card.
    const showPart = (part: number, of = card) =>
      of.evaluate((box, part) => {
        const { top, height } = box.getBoundingClientRect();
        scrollBy(0, top - innerHeight + height * part);
      }, part);
    // Wait until the section's own animation ends, because it moves the card.
    const section = page.locator('#methodology > [data-reveal]');
    await showPart(0.2, section);
    await expect(section).toHaveAttribute('data-reveal', 'shown');
    await expect
      .poll(() => section.evaluate(box => box.getAnimations({ subtree: true }).length))
      .toBe(0);
    await showPart(0.05);
    await expect(card).toHaveAttribute('data-reveal', 'hidden');
    await expect(async () => {
      await showPart(0.15);
      await expect(card).toHaveAttribute('data-reveal', 'shown', { timeout: 500 });
    }).toPass();
    const duration = await card.evaluate(box => getComputedStyle(box).transitionDuration);
    expect(duration).toBe('0.7s, 0.7s');
  });
});

test('logos have their specified sizes and fit their places (section 9)', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto('/');
  const logos = page.getByRole('region', { name: 'Supported by Industry Leaders' }).locator('img');
  const sizes = () =>
    logos.evaluateAll(all =>
      all.map(logo => `${Math.round(logo.clientWidth)}×${Math.round(logo.clientHeight)}`),
    );
  expect(await sizes()).toEqual(['80×32', '80×32', '200×80', '200×80']);
  await page.setViewportSize({ width: 320, height: 640 });
  const places = await logos.evaluateAll(all =>
    all.map(logo => (logo.parentElement?.clientWidth ?? 0) - logo.clientWidth),
  );
  expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
});

test('with reduced motion everything shows at once', async ({ page }) => {
  await page.goto('/');
  await expect(page.locator('[data-reveal]')).toHaveCount(0);
});

test('the solutions load near the viewport (section 7)', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.setViewportSize({ width: 390, height: 600 });
  await page.goto('/', { waitUntil: 'networkidle' });
  const isAsked = () => asked.some(url => url.includes('/assets/solutions-preview.'));
  expect(isAsked()).toBe(false);
  await page
    .getByRole('heading', { name: 'Twelve solutions, one pair of eyes' })
    .scrollIntoViewIfNeeded();
  await expect.poll(isAsked).toBe(true);
});
