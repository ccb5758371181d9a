import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage, textContentsOf } from '../../../kit/testing/built-site.ts';

test('the methodology has five phases in order (sections 2 and 9)', () => {
  const { document } = builtPage('/');
  expect(textContentsOf(document.querySelectorAll('#methodology li h3'))).toEqual([
    'Discovery Audit',
    'Solution Architecture',
    'Precision Deployment',
    'Validation Testing',
    'Ongoing Excellence',
  ]);
});

test('the call to action links to contact (section 2)', () => {
  const section = builtPage('/').page.getByRole('region', {
    name: 'Ready to Enhance Your Security?',
  });
  const link = within(section).getByRole('link', { name: 'Request a Consultation' });
  expect(link.getAttribute('href')).toBe('/contact');
});

test('three teasers link to the newest articles (sections 2 and 9)', () => {
  const insights = within(builtPage('/').page.getByRole('region', { name: 'Latest Insights' }));
  const targets = insights
    .getAllByRole('listitem')
    .flatMap(item => attributesOf(within(item).getAllByRole('link'), 'href'));
  expect([...new Set(targets)]).toEqual([
    '/blog/ai-advancements',
    '/blog/privacy-security',
    '/blog/future-trends',
  ]);
  const all = insights.getByRole('link', { name: 'View all blog posts' });
  expect(all.getAttribute('href')).toBe('/blog');
});

test('four partners open new tabs; two logos load eagerly (sections 2 and 9)', () => {
  const partners = within(
    builtPage('/').page.getByRole('region', { name: 'Supported by Industry Leaders' }),
  );
  const shapes = partners
    .getAllByRole('img')
    .map(logo => ['loading', 'width', 'height'].map(name => logo.getAttribute(name)).join(' '));
  expect(shapes).toEqual(['eager 80 32', 'eager 80 32', 'lazy 200 80', 'lazy 200 80']);
  const links = partners.getAllByRole('link');
  expect(attributesOf(links, 'target')).toEqual(Array(4).fill('_blank'));
  expect(attributesOf(links, 'rel')).toEqual(Array(4).fill('noopener'));
});

test('three pictures of our origin are preloaded (section 7)', () => {
  const preloaded = builtPage('/').document.querySelectorAll('link[rel=preload][as=image]');
  const addresses = attributesOf(preloaded, 'href');
  expect(addresses).toHaveLength(3);
  expect(addresses.filter(address => !address?.startsWith('/'))).toEqual([]);
});

test('phases, partners and teasers have staggered entrances (section 9)', () => {
  const { document, page } = builtPage('/');
  const delaysIn = (part: Element | null) =>
    attributesOf(part?.querySelectorAll('[data-reveal-delay]') ?? [], 'data-reveal-delay');
  expect(delaysIn(document.querySelector('#methodology'))).toEqual([
    ...['0', '150', '300', '450', '600'],
  ]);
  const partners = page.getByRole('region', { name: 'Supported by Industry Leaders' });
  expect(delaysIn(partners)).toEqual(['0', '100', '200', '300']);
  const insights = page.getByRole('region', { name: 'Latest Insights' });
  expect(delaysIn(insights)).toEqual(['0', '100', '200']);
});

test('the impact variant has its own content (section 1)', () => {
  const { page, main } = builtPage('/?variant=impact');
  expect(textContentsOf(page.getAllByRole('heading', { level: 1 }))).toEqual(['AI. DATA. IMPACT.']);
  main.getByText('TRANSFORMING INSIGHTS INTO ACTION');
  main.getByText(/everyday data into actionable intelligence for safer, smarter management/);
  const features = within(page.getByRole('region', { name: 'Core Features' }));
  expect(features.getAllByRole('listitem')).toHaveLength(4);
  const targets = features
    .getAllByRole('listitem')
    .flatMap(feature => attributesOf(within(feature).getAllByRole('link'), 'href'));
  expect(targets).toEqual([
    '/solutions#advanced-threat-detection',
    '/solutions#visual-surveillance-analytics',
    '/solutions#smart-alert-system',
    '/solutions#web-ai-dashboard',
  ]);
  for (const [name, target] of [
    ['Get a Demo', '/contact'],
    ['Explore Solutions', '/solutions'],
    ['Explore all features', '/solutions'],
  ] as const) {
    const [link] = main.getAllByRole('link', { name });
    expect(link?.getAttribute('href')).toBe(target);
  }
});
