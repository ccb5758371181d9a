import { expect, test } from 'vitest';
import { attribution } from './attribution.ts';

const SITE = 'https://oculant.example';

test('attribution keeps the campaign of the first page', () => {
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

test.each([`${SITE}/blog`, ''])('our own pages are no referrer (%j)', referrer => {
  expect(attribution({ page: `${SITE}/`, entry: `${SITE}/`, referrer }).referrer).toBe('');
});
