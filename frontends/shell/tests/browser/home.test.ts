import { expect, test } from '../../../kit/testing/browser.ts';

test('the methodology has its five phases in order (sections 2 and 9)', async ({ page }) => {
  await page.goto('/');
  const phases = page.locator('#methodology li');
  await expect(phases.getByRole('heading')).toHaveText([
    'Discovery Audit',
    'Solution Architecture',
    'Precision Deployment',
    'Validation Testing',
    'Ongoing Excellence',
  ]);
});

test('what comes into view fades in, one card 150 milliseconds after the other (section 9)', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await page.goto('/');
  const cards = page.locator('#methodology [style*="--reveal-delay"]');
  const delays = await cards.evaluateAll(all =>
    all.map(card => getComputedStyle(card).getPropertyValue('--reveal-delay')),
  );
  expect(delays).toEqual(['0ms', '150ms', '300ms', '450ms', '600ms']);
  await expect(cards.first()).toHaveAttribute('data-reveal', 'hidden');
  await cards.first().scrollIntoViewIfNeeded();
  await expect(cards.first()).toHaveAttribute('data-reveal', 'shown');
  expect(await cards.first().evaluate(card => getComputedStyle(card).transitionDuration)).toBe(
    '0.7s, 0.7s',
  );
});

test('teasers and partners fade in 100 milliseconds after one another, at a tenth in view (section 9)', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 600 });
  await page.goto('/');
  const delaysIn = (name: string) =>
    page
      .getByRole('region', { name })
      .locator('[style*="--reveal-delay"]')
      .evaluateAll(all =>
        all.map(card => getComputedStyle(card).getPropertyValue('--reveal-delay')),
      );
  expect(await delaysIn('Supported by Industry Leaders')).toEqual([
    '0ms',
    '100ms',
    '200ms',
    '300ms',
  ]);
  await page.getByRole('region', { name: 'Latest Insights' }).scrollIntoViewIfNeeded();
  await expect.poll(() => delaysIn('Latest Insights')).toEqual(['0ms', '100ms', '200ms']);

  const card = page.locator('#methodology [style*="--reveal-delay"]').nth(4);
  await page.evaluate(() => scrollTo(0, 0));
  // Measured anew each time: what is loaded late above it moves it.
  const showPart = (part: number) =>
    card.evaluate((box, part) => {
      const { top, height } = box.getBoundingClientRect();
      scrollBy(0, top - innerHeight + height * part);
    }, part);
  await showPart(0.05);
  await expect(card).toHaveAttribute('data-reveal', 'hidden');
  await expect(async () => {
    await showPart(0.15);
    await expect(card).toHaveAttribute('data-reveal', 'shown', { timeout: 500 });
  }).toPass();
});

test('who wants no motion sees everything at once', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto('/');
  await expect(page.locator('[data-reveal]')).toHaveCount(0);
});

test('the solutions are fetched when they come near the view (section 7)', async ({ page }) => {
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

test('it asks for a consultation (section 2)', async ({ page }) => {
  await page.goto('/');
  const section = page.getByRole('region', { name: 'Ready to Enhance Your Security?' });
  await expect(section.getByRole('link', { name: 'Request a Consultation' })).toHaveAttribute(
    'href',
    '/contact',
  );
});

test('three teasers lead to the newest articles (sections 2 and 9)', async ({ page }) => {
  await page.goto('/');
  const insights = page.getByRole('region', { name: 'Latest Insights' });
  const targets = await insights
    .getByRole('listitem')
    .getByRole('link')
    .evaluateAll(all => [...new Set(all.map(link => link.getAttribute('href')))]);
  expect(targets).toEqual([
    '/blog/ai-advancements',
    '/blog/privacy-security',
    '/blog/future-trends',
  ]);
  await expect(insights.getByRole('link', { name: 'View all blog posts' })).toHaveAttribute(
    'href',
    '/blog',
  );
});

test('four partners open in a new tab; two logos load at once (sections 2 and 9)', async ({
  page,
}) => {
  await page.goto('/');
  const partners = page.getByRole('region', { name: 'Supported by Industry Leaders' });
  const logos = partners.getByRole('img');
  await expect(logos).toHaveCount(4);
  const shapes = await logos.evaluateAll(all =>
    all.map(logo => ['loading', 'width', 'height'].map(name => logo.getAttribute(name)).join(' ')),
  );
  expect(shapes).toEqual(['eager 80 32', 'eager 80 32', 'lazy 200 80', 'lazy 200 80']);
  for (const link of await partners.getByRole('link').all()) {
    await expect(link).toHaveAttribute('target', '_blank');
    await expect(link).toHaveAttribute('rel', 'noopener');
  }
});
