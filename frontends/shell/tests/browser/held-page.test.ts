import type { Page } from '@playwright/test';
import { chromium } from '@playwright/test';
import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';

// The page behind a dialog or the mobile menu must not scroll.

const PHONE = { width: 390, height: 844 };

function scrollY(page: Page): Promise<number> {
  return page.evaluate(() => window.scrollY);
}

for (const [name, size] of [
  ['a phone', PHONE],
  ['a desktop', { width: 1440, height: 900 }],
] as const) {
  test(`on ${name} the page does not scroll behind the dialog`, async ({ page }) => {
    await page.setViewportSize(size);
    await page.goto('/careers');
    await page.locator('main summary').first().click();
    const opener = page.getByRole('link', { name: /^Apply for this position/ }).first();
    await opener.scrollIntoViewIfNeeded();
    const before = await scrollY(page);
    expect(before).toBeGreaterThan(0);
    await opener.click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toBeVisible();
    await dialog.hover();
    for (let turn = 0; turn < 4; turn += 1) {
      await page.mouse.wheel(0, 2_000);
    }
    await page.mouse.move(2, 2);
    await page.mouse.wheel(0, 2_000);
    // A wheel scrolls after a frame or two.
    await page.evaluate(() => new Promise(done => setTimeout(done, 200)));
    expect(await scrollY(page)).toBe(before);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    expect(await scrollY(page)).toBe(before);
    await page.mouse.wheel(0, 300);
    await expect.poll(() => scrollY(page)).toBeGreaterThan(before);
  });
}

test('the page does not scroll behind the open mobile menu', async ({ page }) => {
  await page.setViewportSize(PHONE);
  await page.goto('/terms');
  await page.evaluate(() => scrollTo(0, 600));
  const button = page.getByRole('button', { name: 'Menu' });
  await button.click();
  const menu = page.getByRole('navigation', { name: 'Menu' });
  await menu.hover();
  await page.mouse.wheel(0, 2_000);
  await page.evaluate(() => new Promise(done => setTimeout(done, 200)));
  expect(await scrollY(page)).toBe(600);
  await page.setViewportSize({ width: 1100, height: 600 });
  await expect(menu).toBeHidden();
  await page.mouse.move(500, 400);
  const turned = await scrollY(page);
  await page.mouse.wheel(0, 300);
  await expect.poll(() => scrollY(page)).toBeGreaterThan(turned);
});

test('with scrollbars, opening a dialog causes no layout shift', async ({ baseURL }) => {
  const browser = await chromium.launch({
    ...test.info().project.use.launchOptions,
    ignoreDefaultArgs: ['--hide-scrollbars'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${baseURL}/careers`);
  const heading = page.locator('main h1');
  const opener = page.getByRole('link', { name: 'Apply Now' }).first();
  await hydrated(opener);
  expect(await page.evaluate(() => innerWidth - document.documentElement.clientWidth)).not.toBe(0);
  const before = await heading.boundingBox();
  await opener.click();
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(await heading.boundingBox()).toEqual(before);
  await browser.close();
});
