import type { Page } from '@playwright/test';
import { dist } from '../../../build/file-paths.ts';
import { gateway } from '../../../kit/testing/gateway.ts';
import type { OtlpCollector } from '../../../kit/testing/otlp-collector.ts';
import { startOtlpCollector } from '../../../kit/testing/otlp-collector.ts';
import { test as base, expect, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';

// What is counted of a visit, from the page to the metrics of a gateway of the test's own. Of what a page sends when it is left
// Playwright hears nothing.

interface Counting {
  site: string;
  collector: OtlpCollector;
}

const test = base.extend<{ counting: Counting }>({
  counting: async ({ stack }, use) => {
    const collector = await startOtlpCollector();
    const running = await gateway(dist, [
      ...['--contact-url', stack.services['contact'] ?? ''],
      ...['--trusted-proxies', '1', '--visit-campaigns', 'monsoon'],
      ...['--otlp-endpoint', collector.endpoint],
    ]);
    await use({ site: running.site, collector });
    running.stop();
    collector.stop();
  },
  baseURL: async ({ counting }, use) => use(counting.site),
});

/** Waits until the counter has come, as it does once a person shows. */
async function counterOf(page: Page): Promise<void> {
  await page.mouse.move(10, 200);
  const asked = () =>
    page.evaluate(() =>
      performance.getEntriesByType('resource').some(({ name }) => /visit-counter\./.test(name)),
    );
  await expect.poll(asked).toBe(true);
  await page.evaluate(() => new Promise(resolve => setTimeout(resolve)));
}

/** Leaves the site's pages for something that is none. */
async function leave(page: Page): Promise<void> {
  await page.goto('/robots.txt', { waitUntil: 'commit' });
}

test('a visit to the contact form is one view, one start and one end in the metrics', async ({
  page,
  counting: { collector },
}) => {
  await page.goto('/contact?utm_campaign=monsoon');
  await counterOf(page);
  await page.getByLabel('Full Name').pressSequentially('Asha Rao');
  await page.getByLabel('Email Address').fill(uniqueEmail('asha'));
  await page.getByLabel('Your Message').fill('Two shops, fourteen cameras.');
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  await leave(page);
  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);

  const view = { page: 'contact', campaign: 'monsoon' };
  await expect.poll(() => collector.countOf('site.page.views', view)).toBe(1);
  expect(collector.countOf('site.page.views', { page: 'home', campaign: 'none' })).toBe(0);
  for (const form of ['contact', 'newsletter', 'career-application']) {
    const expected = form === 'contact' ? 1 : 0;
    expect(collector.countOf('site.form.starts', { form }), form).toBe(expected);
    expect(collector.countOf('site.form.ends', { form }), form).toBe(expected);
  }
  expect(collector.countOf('site.visit.beacons', { outcome: 'counted' })).toBe(1);
  expect(collector.countOf('site.visit.beacons', { outcome: 'refused' })).toBe(0);
});

test('a walk through the site by its links is one beacon, with the figures of the page that was loaded', async ({
  page,
  counting: { collector },
}) => {
  await page.goto('/');
  await counterOf(page);
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.getByRole('link', { name: 'Contact', exact: true }).first().click();
  await expect(page.getByLabel('Full Name')).toBeVisible();
  await leave(page);
  const counted = { outcome: 'counted' };
  await expect.poll(() => collector.countOf('site.visit.beacons', counted)).toBe(1);
  for (const kind of ['home', 'about', 'contact']) {
    const view = { page: kind, campaign: 'none' };
    expect(collector.countOf('site.page.views', view), kind).toBe(1);
  }
  for (const metric of ['site.web_vitals.lcp', 'site.web_vitals.cls']) {
    expect(collector.countOf(metric, { page: 'home' }), metric).toBe(1);
    expect(collector.countOf(metric, { page: 'contact' }), metric).toBeUndefined();
  }
});

base('of a visitor who objects nothing is loaded and nothing is sent', async ({ page }) => {
  const asked: string[] = [];
  page.context().on('request', request => asked.push(request.url()));
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });
    navigator.sendBeacon = () => {
      throw new Error('A beacon was sent');
    };
  });
  await page.goto('/', { waitUntil: 'networkidle' });
  await page.mouse.move(10, 200);
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.waitForLoadState('networkidle');
  await leave(page);
  expect(asked.filter(url => /visit/.test(url))).toEqual([]);
});
