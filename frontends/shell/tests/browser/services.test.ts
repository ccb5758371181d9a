import { expect, test } from '../../../kit/testing/browser.ts';

const DETAIL = {
  residential: 'corporate-residential',
  commercial: 'banks-atms-financial',
  'public-safety': 'smart-cities-infrastructure',
  retail: 'retail-wholesale-high-risk',
  industrial: 'industry-smart-factories',
  traffic: 'traffic-public-safety',
};

test('six cards and six detail blocks, each leading on (sections 2, 3 and 9)', async ({ page }) => {
  await page.goto('/services');
  const cards = page.getByRole('region', { name: 'Six kinds of places' }).getByRole('article');
  await expect(cards).toHaveCount(6);
  for (const card of await cards.all()) {
    await expect(card.getByText('Key Features')).toBeVisible();
    await expect(card.getByRole('link', { name: 'Get Started' })).toHaveAttribute(
      'href',
      '/contact',
    );
  }
  for (const [id, detail] of Object.entries(DETAIL)) {
    await expect(cards.locator(`a[href="#${id}"]`)).toHaveCount(1);
    const block = page.locator(`#${id}`);
    const title = await block.getByRole('heading', { level: 2 }).textContent();
    await expect(block.getByText('Key Benefits')).toBeVisible();
    await expect(block.getByText(`How ${title} Works in Practice`)).toBeVisible();
    await expect(block.locator('ul > li')).toHaveCount(5);
    await expect(block.locator('ol > li')).toHaveCount(5);
    await expect(block.getByRole('link', { name: 'Learn More' })).toHaveAttribute(
      'href',
      `/services/${detail}`,
    );
  }
});

test('four reasons and three ways on (section 2)', async ({ page }) => {
  await page.goto('/services');
  const why = page.getByRole('region', { name: 'Why Choose Our Security Solutions' });
  await expect(why.getByRole('heading', { level: 3 })).toHaveText([
    'AI-Powered Protection',
    '24/7 Monitoring',
    'Secure Data Storage',
    'Access Control',
  ]);
  const closing = page.getByRole('region', { name: 'Ready to Enhance Your Security?' });
  for (const [name, target] of [
    ['Request a Consultation', '/contact'],
    ['Schedule a Consultation', '/contact'],
    ['Learn About Our Solutions', '/solutions'],
  ] as const) {
    await expect(closing.getByRole('link', { name })).toHaveAttribute('href', target);
  }
});

test('each service states its three figures (section 3)', async ({ page }) => {
  for (const [id, figures] of [
    ['retail-wholesale-high-risk', ['35%', '90%', '24/7']],
    ['banks-atms-financial', ['99.8%', 'under 2s', '24/7']],
    ['industry-smart-factories', ['50%', '30%', '24/7']],
    ['traffic-public-safety', ['40%', '25%', '30%']],
    ['smart-cities-infrastructure', ['65%', '40%', '24/7']],
    ['corporate-residential', ['99.5%', 'under 3s', '24/7']],
  ] as const) {
    await page.goto(`/services/${id}`);
    await expect(page.locator('main dd')).toHaveText([...figures]);
  }
});

test('a service is told in full (sections 2, 3 and 9)', async ({ page }) => {
  for (const id of Object.values(DETAIL)) {
    await page.goto(`/services/${id}`);
    const itemsOf = (name: string) => page.getByRole('region', { name }).getByRole('listitem');
    await expect(itemsOf('Key Features')).toHaveCount(6);
    await expect(itemsOf('Recommended Services')).toHaveCount(6);
    await expect(itemsOf('How It Works')).toHaveCount(6);
    const benefits = await page
      .locator('aside')
      .filter({ hasText: 'Key Benefits' })
      .locator('div > ul > li')
      .count();
    expect(benefits, id).toBeGreaterThanOrEqual(5);
    await expect(page.locator('main').getByRole('link', { name: 'Request a Demo' })).toHaveCount(3);

    const others = page
      .getByRole('navigation', { name: 'Explore Other Services' })
      .getByRole('link');
    await expect(others).toHaveCount(3);
    for (const other of await others.all()) {
      const words = await other.locator('span').last().textContent();
      expect(words?.length).toBe(61);
      expect(words?.endsWith('…')).toBe(true);
      expect(await other.getAttribute('href')).not.toBe(`/services/${id}`);
    }
  }
});
