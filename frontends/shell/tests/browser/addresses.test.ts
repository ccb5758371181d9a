import type { Page } from '@playwright/test';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';

/** Mocks the API, which accepts each form. Returns the addresses sent. */
async function sentAddresses(page: Page): Promise<string[]> {
  const sent: string[] = [];
  await page.route('**/api/contact', async route => {
    sent.push(route.request().postDataJSON().email);
    await route.fulfill({ json: { success: true, message: 'Thank you.' } });
  });
  return sent;
}

async function write(page: Page, address: string) {
  await page.goto('/contact');
  await page.getByLabel('Full Name').fill('Asha Rao');
  await page.getByLabel('Your Message').fill('Two cameras.');
  const field = page.getByLabel('Email Address');
  await field.focus();
  // Inserts the whole text at once, as a paste does.
  await page.keyboard.insertText(address);
  return field;
}

const PASTED = [
  ['\u200basha@example.com\u200b', 'asha@example.com'],
  ['\u202aasha@exam\u00adple.com\u202c', 'asha@example.com'],
  ['\ufeffasha@example.com\u2060', 'asha@example.com'],
  ['\u200easha@example.com\u200f', 'asha@example.com'],
  ['Asha Rao <asha@example.com>', 'asha@example.com'],
  ['mailto:asha@example.com?subject=x', 'asha@example.com'],
  ['asha@müller.example', 'asha@xn--mller-kva.example'],
  ['asha@gmial.com', 'asha@gmial.com'],
] as const;

for (const [pasted, address] of PASTED) {
  test(`${JSON.stringify(pasted)} is sent as ${address}`, async ({ page }) => {
    const sent = await sentAddresses(page);
    await write(page, pasted);
    await page.keyboard.press('Enter');
    await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
    expect(sent).toEqual([address]);
  });
}

test('an incomplete domain gets a suggestion that one click applies', async ({ page }) => {
  const sent = await sentAddresses(page);
  const field = await write(page, 'john@gmail');
  await page.getByRole('button', { name: 'Send Message' }).click();
  const question = page.getByRole('button', { name: 'Did you mean gmail.com?' });
  await expect(question).toBeVisible();
  expect(sent).toEqual([]);
  await question.click();
  await expect(field).toHaveValue('john@gmail.com');
  await expect(question).toBeHidden();
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page.getByText('Message Sent Successfully!')).toBeVisible();
  expect(sent).toEqual(['john@gmail.com']);
});

test('a domain without a known ending is refused', async ({ page }) => {
  const sent = await sentAddresses(page);
  const field = await write(page, 'john@company');
  await page.getByRole('button', { name: 'Send Message' }).click();
  const message = () => field.evaluate((input: HTMLInputElement) => input.validationMessage);
  expect(await message()).toContain('with its ending');
  expect(sent).toEqual([]);
});
