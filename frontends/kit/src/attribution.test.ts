import { expect, test } from 'vitest';
import { attribution } from './attribution.ts';

const SITE = 'https://oculant.example';

test('a visitor by an advertisement is told of, wherever on the site they are by now', () => {
  const told = attribution({
    page: `${SITE}/contact?topic=retail`,
    entry: `${SITE}/solutions?utm_source=newspaper&utm_campaign=monsoon%20sale`,
    referrer: 'https://www.example.com/',
  });
  expect(told).toEqual({
    page: '/contact',
    referrer: 'https://www.example.com/',
    utmSource: 'newspaper',
    utmMedium: '',
    utmCampaign: 'monsoon sale',
    utmTerm: '',
    utmContent: '',
  });
});

test.each([`${SITE}/blog`, ''])('our own pages refer nobody (%j)', referrer => {
  expect(attribution({ page: `${SITE}/`, entry: `${SITE}/`, referrer }).referrer).toBe('');
});
