import { within } from '@testing-library/dom';
import { expect, test } from 'vitest';
import { attributesOf, builtPage } from '../../../kit/testing/built-site.ts';

const IDS = [
  'advanced-threat-detection',
  'visual-surveillance-analytics',
  'smart-alert-system',
  'mobile-app-services',
  'web-ai-dashboard',
  'device-health-check',
  'deployment-options',
  'custom-ai-models',
  'activity-analytics',
  'data-protection',
  'access-control',
  'network-security',
];

test('twelve solutions have an anchor and five features (sections 2, 3 and 9)', () => {
  const { document, main } = builtPage('/solutions');
  const sections = Array.from(document.querySelectorAll<HTMLElement>('main section[id]'));
  expect(sections.map(({ id }) => id)).toEqual(IDS);
  for (const section of sections) {
    expect(within(section).getAllByRole('listitem'), section.id).toHaveLength(5);
  }
  for (const words of [
    /SMS, WhatsApp, Email and Dashboard/,
    /Per-camera AI model assignment/,
    /Role-based access/,
    /Encryption in transit and at rest/,
    /Audit logs/,
  ]) {
    expect(main.getAllByText(words).length).toBeGreaterThan(0);
  }
});

test('the index links to all solutions, a button to contact (section 2)', () => {
  const { page } = builtPage('/solutions');
  const index = within(page.getByRole('navigation', { name: 'Solutions' }));
  expect(attributesOf(index.getAllByRole('link'), 'href')).toEqual(IDS.map(id => `#${id}`));
  const demo = page.getByRole('link', { name: 'Request a Demo' });
  expect(demo.getAttribute('href')).toBe('/contact');
});
