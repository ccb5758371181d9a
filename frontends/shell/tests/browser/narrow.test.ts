import { chromium } from '@playwright/test';
import { CHROMIUM } from '../../../build/chromium.ts';
import { expect, expectFits, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS, SAMPLES } from '../../../kit/testing/sample-paths.ts';

/** RFC 5321, 4.5.3.1 */
const LONGEST_ADDRESS = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`;

test('a confirmation with a long address fits a phone', async ({ page }) => {
  await page.route('**/api/contact', route => route.fulfill({ json: { success: true } }));
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(SAMPLES.contact);
  await page.getByLabel('Full Name').fill('Asha');
  await page.getByLabel('Email Address').fill(LONGEST_ADDRESS);
  await page.getByLabel('Your Message').fill('Hello');
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText(LONGEST_ADDRESS)).toBeVisible();
  await expectFits(page, 320, 640);
});

test('long search words and file names fit a phone', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto(SAMPLES.blogList);
  await page.getByLabel('Search articles').fill('x'.repeat(200));
  await expect(page.getByText(`“${'x'.repeat(200)}”`)).toBeVisible();
  await expectFits(page, 320, 640);

  await page.goto(SAMPLES.application);
  const name = `${'r'.repeat(200)}.pdf`;
  const buffer = Buffer.from('%PDF-1.7\n%%EOF');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'application/pdf', buffer });
  await expect(page.getByText(name)).toBeVisible();
  await expectFits(page, 320, 640);
});

test('at a 200 % font size no phone scrolls sideways', async ({ stack }) => {
  test.slow();
  // The font size must be the browser's setting, because lengths and media queries depend on it.
  const browser = await chromium.launch({
    ...CHROMIUM,
    args: [...(CHROMIUM.args ?? []), '--blink-settings=defaultFontSize=32'],
  });
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  for (const route of SAMPLE_PATHS) {
    await page.goto(stack.site + route);
    await hydrated(page.locator('main h1'));
    await page.locator('details').evaluateAll(all => {
      for (const details of all) {
        details.setAttribute('open', '');
      }
    });
    for (const width of [320, 390]) {
      await test.step(`${route}, ${width} pixels`, () => expectFits(page, width, 700));
    }
  }
  // The trial click fails if the control overflows and the next element covers it.
  await page.setViewportSize({ width: 320, height: 700 });
  await page.goto(stack.site + SAMPLES.contact);
  await page.getByRole('button', { name: 'Show map' }).click({ trial: true });
  await browser.close();
});

test('fields detect the text direction', async ({ page }) => {
  await page.goto(SAMPLES.contact);
  const directions = await page
    .locator('main :is(input, textarea):visible')
    .evaluateAll(all => all.map(field => field.getAttribute('dir')));
  expect(new Set(directions)).toEqual(new Set(['auto']));
  const name = page.getByLabel('Full Name');
  await name.fill('ליאור');
  expect(await name.evaluate(field => getComputedStyle(field).direction)).toBe('rtl');
});
