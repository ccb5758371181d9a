import { within } from '@testing-library/dom';
import { describe, expect, test } from 'vitest';
import {
  attributesOf,
  builtPage,
  builtRoutes,
  textContentsOf,
} from '../../../kit/testing/built-site.ts';

const DETAIL = {
  residential: 'corporate-residential',
  commercial: 'banks-atms-financial',
  'public-safety': 'smart-cities-infrastructure',
  retail: 'retail-wholesale-high-risk',
  industrial: 'industry-smart-factories',
  traffic: 'traffic-public-safety',
};

const FIGURES = {
  'retail-wholesale-high-risk': ['35%', '90%', '24/7'],
  'banks-atms-financial': ['99.8%', 'under 2s', '24/7'],
  'industry-smart-factories': ['50%', '30%', '24/7'],
  'traffic-public-safety': ['40%', '25%', '30%'],
  'smart-cities-infrastructure': ['65%', '40%', '24/7'],
  'corporate-residential': ['99.5%', 'under 3s', '24/7'],
};

describe('the overview of the services', () => {
  const { document, page } = builtPage('/services');

  test('has six cards (sections 2, 3 and 9)', () => {
    const cards = within(page.getByRole('region', { name: 'Six kinds of places' })).getAllByRole(
      'article',
    );
    expect(cards).toHaveLength(6);
    for (const card of cards.map(card => within(card))) {
      card.getByText('Key Features');
      const start = card.getByRole('link', { name: 'Get Started' });
      expect(start.getAttribute('href')).toBe('/contact');
    }
    const inner = cards.flatMap(card =>
      attributesOf(card.querySelectorAll('a[href^="#"]'), 'href'),
    );
    expect(inner.toSorted()).toEqual(
      Object.keys(DETAIL)
        .map(id => `#${id}`)
        .toSorted(),
    );
  });

  test.each(Object.entries(DETAIL))('describes and links %s (sections 2 and 3)', (id, detail) => {
    const block = document.getElementById(id);
    if (!block) {
      throw new Error(`There is no ${id}`);
    }
    const inside = within(block);
    const title = inside.getByRole('heading', { level: 2 }).textContent;
    inside.getByText('Key Benefits');
    inside.getByText(`How ${title} Works in Practice`);
    expect(block.querySelectorAll('ul > li')).toHaveLength(5);
    expect(block.querySelectorAll('ol > li')).toHaveLength(5);
    const more = inside.getByRole('link', { name: /^Learn More/ });
    expect(more.getAttribute('href')).toBe(`/services/${detail}`);
  });

  test('names four reasons and three actions (section 2)', () => {
    const why = page.getByRole('region', { name: 'Why Choose Our Security Solutions' });
    expect(textContentsOf(within(why).getAllByRole('heading', { level: 3 }))).toEqual([
      'AI-Powered Protection',
      '24/7 Monitoring',
      'Secure Data Storage',
      'Access Control',
    ]);
    const closing = within(page.getByRole('region', { name: 'Ready to Enhance Your Security?' }));
    for (const [name, target] of [
      ['Request a Consultation', '/contact'],
      ['Schedule a Consultation', '/contact'],
      ['Learn About Our Solutions', '/solutions'],
    ] as const) {
      expect(closing.getByRole('link', { name }).getAttribute('href')).toBe(target);
    }
  });

  test('preloads its first three pictures (section 9)', () => {
    expect(document.head.querySelectorAll('link[rel=preload][as=image]')).toHaveLength(3);
  });

  test('redirects its names to the services (section 2)', () => {
    const ofServices = builtRoutes().redirects.filter(({ from }) => from.startsWith('/services/'));
    expect(ofServices).toEqual(
      Object.entries(DETAIL).map(([id, detail]) => ({
        from: `/services/${id}`,
        to: `/services/${detail}`,
      })),
    );
  });
});

test('a service’s picture has alternative text (section 3)', () => {
  const { page } = builtPage('/services/industry-smart-factories');
  const place = page.getByRole('img', {
    name: /A factory hall with a line, a press and a forklift/,
  });
  expect(place.getAttribute('src')).toBeTruthy();
});

describe.each(Object.entries(FIGURES))('%s', (id, figures) => {
  const { document, page, main } = builtPage(`/services/${id}`);
  const itemsOf = (name: string) =>
    within(page.getByRole('region', { name })).getAllByRole('listitem');

  test('has all sections and its three figures (sections 2, 3 and 9)', () => {
    expect(textContentsOf(document.querySelectorAll('main dd'))).toEqual(figures);
    for (const name of ['Key Features', 'Recommended Services', 'How It Works']) {
      expect(itemsOf(name), name).toHaveLength(6);
    }
    const benefits = Array.from(document.querySelectorAll('aside')).filter(({ textContent }) =>
      textContent.includes('Key Benefits'),
    );
    expect(benefits).toHaveLength(1);
    expect(benefits[0]?.querySelectorAll('div > ul > li').length).toBeGreaterThanOrEqual(5);
    expect(main.getAllByRole('link', { name: 'Request a Demo' })).toHaveLength(3);
  });

  test('links to three others, in 60 characters each (section 2)', () => {
    const others = within(
      page.getByRole('navigation', { name: 'Explore Other Services' }),
    ).getAllByRole('link');
    expect(others).toHaveLength(3);
    for (const other of others) {
      const words = textContentsOf(other.querySelectorAll('span')).at(-1);
      expect(words).toHaveLength(61);
      expect(words?.endsWith('…')).toBe(true);
      expect(other.getAttribute('href')).not.toBe(`/services/${id}`);
    }
  });

  test('shows its place and a close-up of each feature (section 3)', () => {
    const place = document.querySelector('main img');
    expect(place?.getAttribute('alt')?.length).toBeGreaterThan(30);
    // Lazy pictures are in `noscript` elements.
    const pictures = itemsOf('Key Features').map(
      item => item.innerHTML.match(/<img[^>]* src="([^"]+)"/)?.[1],
    );
    expect(new Set(pictures.filter(Boolean)).size).toBe(6);
  });
});
