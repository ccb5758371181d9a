import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLES } from '../../../kit/testing/sample-paths.ts';
import { translatePage } from '../../../kit/testing/translate-page.ts';

// Translators wrap each text in their own elements.

test('a translated résumé field shows the last chosen file', async ({ page }) => {
  await page.goto(SAMPLES.application);
  const picker = page.locator('input[type=file]');
  await picker.setInputFiles(file('first.pdf', 10));
  await expect(page.getByText('first.pdf')).toBeVisible();
  await page.evaluate(translatePage);
  await picker.setInputFiles(file('second.pdf', 200_000));
  await expect(page.getByText('second.pdf')).toBeVisible();
  await expect(page.getByText('(0.2 MiB)')).toBeVisible();
  await expect(page.getByText('first.pdf')).toHaveCount(0);
  await page.evaluate(translatePage);
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('second.pdf')).toHaveCount(0);
  await picker.setInputFiles({ ...file('third.txt', 10) });
  await expect(page.getByText('Choose a PDF, DOC or DOCX file')).toBeVisible();
  await page.evaluate(translatePage);
  await picker.setInputFiles(file('fourth.pdf', 0));
  await expect(page.getByText('The file is empty.')).toBeVisible();
});

test('a translated search shows the latest results', async ({ page }) => {
  await page.goto(SAMPLES.blogList);
  const field = page.getByLabel('Search articles');
  const status = page.locator('main').getByRole('status').first();
  await field.fill('camera');
  await expect(status).toHaveText(/on “camera”$/);
  await page.evaluate(translatePage);
  await field.fill('xyzzy');
  await expect(status).toHaveText('No article has anything on “xyzzy”');
  await page.evaluate(translatePage);
  await field.fill('');
  await expect(status).toHaveText(/^\d+ articles/);
  await page.evaluate(translatePage);
  await page.getByRole('link', { name: 'Technology', exact: true }).click();
  await expect(status).toHaveText(/in Technology/);
});

test('a translated form shows current errors and character counts', async ({
  page,
  consoleMessages,
}) => {
  const answers = ['Say your name.', 'Use a shorter name.'];
  await page.route('**/api/contact', route => {
    const error = answers.shift() ?? '';
    return route.fulfill({ json: { success: false, error, fields: { name: error } } });
  });
  await page.goto(SAMPLES.contact);
  await page.evaluate(translatePage);
  await page.getByLabel('Full Name').fill('A');
  await page.getByLabel('Email Address').fill('asha@example.com');
  const message = page.getByLabel('Your Message');
  await message.fill('x'.repeat(9_500));
  await expect(page.getByText('500 characters left')).toBeVisible();
  await page.evaluate(translatePage);
  await message.fill('x'.repeat(9_700));
  await expect(page.getByText('300 characters left')).toBeVisible();
  const send = page.getByRole('button', { name: 'Send Message' });
  await send.click();
  await expect(page.getByRole('alert')).toHaveText('Say your name.');
  await page.evaluate(translatePage);
  await send.click();
  await expect(page.getByRole('alert')).toHaveText('Use a shorter name.');
  await expect(page.getByLabel('Full Name')).toHaveAccessibleDescription('Use a shorter name.');
  await page.evaluate(translatePage);
  await message.fill('Hello');
  await expect(page.getByText('characters left')).toHaveCount(0);
  expect(consoleMessages.splice(0)).toEqual(['Say your name.', 'Use a shorter name.']);
});

test('a translated list updates its count', async ({ page }) => {
  await page.goto(SAMPLES.careers);
  await page.evaluate(translatePage);
  const status = page.locator('main').getByRole('status').filter({ hasText: 'position' });
  await page.getByRole('button', { name: 'Marketing', exact: true }).click();
  await expect(status).toHaveText('1 position');
  await page.evaluate(translatePage);
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(status).toHaveText(/^\d+ positions$/);
});

function file(name: string, size: number) {
  const buffer = Buffer.alloc(size, '%PDF-1.7\n');
  return { name, mimeType: 'application/pdf', buffer };
}
