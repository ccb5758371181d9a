import type { Page } from '@playwright/test';
import { expect, hydrated, test } from '../../../kit/testing/browser.ts';

// Section 8 of the specification, row by row, where no other test shows it.

const LATER = 'Failed to send message. Please try again later.';

test('a message that the server refuses without a word (section 8)', async ({ page, said }) => {
  await page.route('**/api/contact', route =>
    route.fulfill({ status: 500, json: { success: false } }),
  );
  await writeMessage(page);
  await expect(page.getByRole('alert')).toHaveText('Failed to send message');
  await expect(page.getByLabel('Your Message')).toHaveValue('Hello');
  expect(said.splice(0)).toEqual([expect.stringContaining('500'), 'Failed to send message']);
});

test('a success flag that is false is a failure, whatever the status (sections 5 and 8)', async ({
  page,
  said,
}) => {
  await page.route('**/api/contact', route =>
    route.fulfill({ json: { success: false, message: 'Come back tomorrow.' } }),
  );
  await writeMessage(page);
  await expect(page.getByRole('alert')).toHaveText('Come back tomorrow.');
  expect(said.splice(0)).toEqual(['Come back tomorrow.']);
});

test('a message that never arrives is tried four times (sections 8 and 9)', async ({
  page,
  said,
}) => {
  let attempts = 0;
  await page.route('**/api/contact', route => {
    attempts += 1;
    return route.abort();
  });
  await writeMessage(page);
  await expect(page.getByRole('alert')).toHaveText(LATER, { timeout: 12_000 });
  expect(attempts).toBe(4);
  const words = said.splice(0);
  expect(words.filter(text => text.includes('ERR_FAILED'))).toHaveLength(4);
  expect(words.filter(text => !text.includes('ERR_FAILED'))).toEqual([LATER]);
});

test('a sign-up that fails (section 8)', async ({ page, said }) => {
  await page.goto('/blog');
  const signUp = async () => {
    await page.getByLabel('Email Address').first().fill('reader@example.com');
    await page.getByRole('button', { name: 'Subscribe' }).first().click();
  };
  await page.route('**/api/newsletter', route => route.fulfill({ json: { success: false } }));
  await signUp();
  await expect(page.getByText('Subscription failed. Try again.')).toBeVisible();

  await page.unroute('**/api/newsletter');
  await page.route('**/api/newsletter', route =>
    route.fulfill({ status: 503, json: { success: false, error: 'Not now, sorry.' } }),
  );
  await signUp();
  await expect(page.getByText('Not now, sorry.')).toBeVisible();
  await expect(page.getByText('Subscription failed. Try again.')).toBeHidden();
  expect(said.splice(0)).toEqual([expect.stringContaining('503')]);
});

test('a page that cannot be loaded (section 8)', async ({ page, said }) => {
  await page.goto('/');
  await hydrated(page.locator('main h1'));
  await page.route('**/assets/about.*.js', route => route.abort());
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  const heading = page.getByRole('heading', { name: 'Unexpected Application Error!' });
  await expect(heading).toBeVisible({ timeout: 12_000 });
  await expect(page.locator('main').getByText(/about/)).toBeVisible();
  // The rest of the site goes on.
  await page.getByRole('link', { name: 'Contact', exact: true }).first().click();
  await expect(page.getByLabel('Full Name')).toBeVisible();
  said.splice(0);
});

async function writeMessage(page: Page) {
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Email Address').fill('asha@example.com');
  await page.getByLabel('Your Message').fill('Hello');
  await page.getByRole('button', { name: 'Send Message' }).click();
}
