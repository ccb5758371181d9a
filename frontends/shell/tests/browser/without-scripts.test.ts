import type { Page } from '@playwright/test';
import { expect, someone, test } from '../../../kit/testing/browser.ts';

// The forms as browsers send them that run no script of ours, or have not begun to.

const SALES = 'sales@oculant.example';

test.use({ javaScriptEnabled: false });

test('a message is sent once, however often, and its visitor is told', { tag: '@hosting' }, async ({
  page,
  mailTo,
  mailsTo,
}) => {
  const email = someone('asha');
  for (const _ of ['once', 'again']) {
    await page.goto('/contact?utm_source=newspaper');
    await write(page, { 'Full Name': 'Asha Rao', 'Email Address': email, 'Your Message': 'Hello' });
    await page.getByRole('button', { name: 'Send Message' }).click();
    await expect(page).toHaveURL('/contact/sent');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Message Sent Successfully!');
  }
  const lead = await mailTo(SALES, email);
  expect(lead.text).toMatch(/Page: +\/contact\nCampaign: +newspaper/);
  await mailTo(email, 'Asha');
  expect(await mailsTo(SALES, email)).toHaveLength(1);
});

test('a message that is refused is there as it was, and sent once it is right', {
  tag: '@hosting',
}, async ({ page, mailTo, said }) => {
  const email = someone('asha');
  const message = '"><script>alert(1)</script>\n🎥 &quot; “How soon?”';
  await page.goto('/contact');
  await write(page, { 'Full Name': '  ', 'Email Address': email, 'Your Message': message });
  await page.getByRole('button', { name: 'Send Message' }).click();

  await expect(page).toHaveTitle('Not sent yet | Oculant');
  await expect(page.getByRole('alert')).toHaveText('Please check the marked fields.');
  const name = page.getByLabel('Full Name');
  await expect(name).toHaveAttribute('aria-invalid', 'true');
  await expect(name).toHaveAccessibleDescription(/name/i);
  await expect(page.getByLabel('Email Address')).toHaveValue(email);
  await expect(page.getByLabel('Email Address')).not.toHaveAttribute('aria-invalid');
  await expect(page.getByLabel('Your Message')).toHaveValue(message);
  expect(said.splice(0)).toEqual([expect.stringContaining('422')]);

  await write(page, { 'Full Name': 'Asha Rao' });
  await page.getByRole('button', { name: 'Send Message' }).click();
  await expect(page).toHaveURL('/contact/sent');
  const lead = await mailTo(SALES, email);
  expect(lead.text).toContain('“How soon?”');
});

async function write(page: Page, texts: Readonly<Record<string, string>>) {
  for (const [label, text] of Object.entries(texts)) {
    await page.getByLabel(label).fill(text);
  }
}
