import type { Page } from '@playwright/test';
import { expect, test, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS, SAMPLES } from '../../../kit/testing/sample-paths.ts';
import { focusedStop, noteTabStops } from '../../../kit/testing/tab-stops.ts';

// These tests complete tasks without a mouse.

for (const route of SAMPLE_PATHS) {
  test(`${route}: Tab reaches every control in order and in view`, async ({ page }) => {
    await page.goto(route);
    // The slider and buttons appear once the recording's picture has loaded.
    if (route === SAMPLES.home) {
      await expect(page.getByRole('slider')).toBeVisible();
    }
    const count = await page.evaluate(noteTabStops);
    expect(count).toBeGreaterThan(10);
    for (let stop = 0; stop < count; stop += 1) {
      await page.keyboard.press('Tab');
      await expect
        .poll(() => page.evaluate(focusedStop))
        .toEqual({ stop, hasFocusRing: true, isInView: true });
    }
  });
}

test('the mobile menu opens, moves focus and closes', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/');
  const menu = page.getByRole('button', { name: 'Menu' });
  await tabTo(page, menu);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('navigation', { name: 'Menu' })).toBeVisible();
  await tabTo(page, page.locator('.mobile-menu summary'));
  await page.keyboard.press('Space');
  const list = page.getByRole('navigation', { name: 'Menu' }).locator('ul ul');
  expect(await list.evaluate(element => getComputedStyle(element).maxHeight)).toBe('500px');
  await tabTo(page, list.getByRole('link', { name: /Bank Security/ }));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/services/banks-atms-financial');
  const opened = page.getByRole('navigation', { name: 'Menu' });
  await expect(opened).toBeHidden();
  // The heading gets the focus, although the button had it.
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused();

  await menu.focus();
  await page.keyboard.press('Enter');
  await expect(opened).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(opened).toBeHidden();
  await expect(menu).toBeFocused();
});

test('Enter and Space open one question at a time', async ({ page }) => {
  await page.goto('/contact');
  const questions = page.locator('main details[name] summary');
  await questions.first().focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('main details[open]')).toHaveCount(1);
  await page.keyboard.press('Tab');
  await expect(questions.nth(1)).toBeFocused();
  await page.keyboard.press('Space');
  await expect(page.locator('main details[open] summary')).toHaveText(
    (await questions.nth(1).textContent()) ?? 'a question',
  );
  await page.keyboard.press('Space');
  await expect(page.locator('main details[open]')).toHaveCount(0);
});

test('the dialog traps the focus and returns it', async ({ page }) => {
  await page.goto('/careers');
  const apply = page.getByRole('link', { name: 'Apply Now' });
  await tabTo(page, apply);
  await page.keyboard.press('Enter');
  const modal = page.getByRole('dialog');
  await expect(modal).toBeVisible();
  await expect(modal.getByLabel('Full Name')).toBeFocused();
  // The browser's toolbar is in the tab order; the page behind the dialog must not be.
  for (let press = 0; press < 24; press += 1) {
    await page.keyboard.press('Tab');
    const where = await page.evaluate(() => {
      const { activeElement } = document;
      return activeElement === document.body || activeElement?.closest('dialog')
        ? 'inside'
        : 'outside';
    });
    expect(where).toBe('inside');
  }
  await page.keyboard.press('Escape');
  await expect(modal).toBeHidden();
  await expect(apply).toBeFocused();
});

test('the contact form can be filled in and sent', async ({ page, mailTo }) => {
  const email = uniqueEmail('keys');
  await page.goto('/contact');
  await tabTo(page, page.getByLabel('Full Name'));
  await page.keyboard.type('Asha Rao');
  await page.keyboard.press('Tab');
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type('Without a mouse.');
  await tabTo(page, page.getByRole('button', { name: 'Send Message' }));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  await mailTo('sales@oculant.example', email);
});

test('Enter submits the newsletter form', async ({ page }) => {
  await page.goto('/blog');
  const email = page.getByLabel('Email Address').first();
  await tabTo(page, email);
  await page.keyboard.type(uniqueEmail('keys'));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Thank you for subscribing!')).toBeVisible();
});

async function tabTo(page: Page, target: ReturnType<Page['getByRole']>) {
  for (let press = 0; press < 60; press += 1) {
    if (await target.evaluate(element => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error('The keyboard does not get there');
}
