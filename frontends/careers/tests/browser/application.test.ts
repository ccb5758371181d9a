import { createHash, randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { faultyProxyTo } from '../../../kit/testing/faulty-proxy.ts';
import {
  expect,
  expectConsole,
  test,
  uniqueEmail,
} from '../../../kit/testing/playwright-fixtures.ts';
import { disableToastTimeouts } from '../../../kit/testing/show-toast.ts';

const RECRUITERS = 'recruiters@oculant.example';
const MEGABYTE = 1024 * 1024;

test('an application and its résumé reach the recruiters unchanged', {
  tag: ['@standalone', '@hosting'],
}, async ({ page, mailTo }) => {
  const email = uniqueEmail('ravi');
  const resume = pdf(5 * MEGABYTE);
  const sha256 = createHash('sha256').update(resume).digest('hex');
  await page.goto('/careers');
  await applyFor(page, 'Computer Vision Intern');
  const modal = page.getByRole('dialog', { name: 'Computer Vision Intern' });
  await expect(modal.getByLabel('Position')).toHaveValue('Computer Vision Intern');
  await fill(page, email);
  await modal.getByLabel('Phone Number').fill('+91 98765 43210');
  await modal.getByLabel('Years of Experience').fill('1 year');
  await attach(page, 'Ravi Kumar – résumé.pdf', resume);
  await page.evaluate(disableToastTimeouts);
  await submit(page);

  await expect(confirmation(page)).toBeFocused();
  await expect(confirmation(page)).toContainText(
    "Thank you for your interest. We'll get back to you soon.",
  );
  const toasts = page.getByRole('region', { name: /^Notifications/ });
  await expect(toasts.getByText('Application Submitted!')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.getByRole('link', { name: 'Apply Now' }).first().click();
  await expect(page.getByRole('dialog').getByLabel('Full Name')).toHaveValue('');
  await expect(page.getByRole('dialog').getByLabel('Cover Letter')).toHaveValue('');

  const mail = await mailTo(RECRUITERS, email);
  expect(mail.text).toMatch(/Page: +\//);
  expect(mail.subject).toContain('Computer Vision Intern');
  expect(mail.headers['reply-to']).toContain(email);
  for (const field of [
    'Ravi Kumar',
    '+91 98765 43210',
    '1 year',
    'I count people for fun.',
    sha256,
  ]) {
    expect(mail.text).toContain(field);
  }
  const link = mail.text.match(/https?:\/\/\S+resumes\S+/)?.[0] ?? 'no link';
  const answer = await fetch(link);
  expect(answer.headers.get('content-disposition')).toContain('attachment');
  const received = Buffer.from(await answer.arrayBuffer());
  expect(received.equals(resume)).toBe(true);

  const acknowledgement = await mailTo(email, sha256);
  expect(acknowledgement.text).not.toContain('résumé.pdf');
});

test('a refusal shows in dialog and toast; the résumé stays', async ({ page, consoleMessages }) => {
  await page.route('**/api/career-application', route =>
    route.fulfill({
      status: 503,
      json: { success: false, error: 'We cannot take applications right now.' },
    }),
  );
  await page.goto('/careers');
  await applyFor(page, 'AI Intern');
  await fill(page, 'ravi@example.com');
  const modal = page.getByRole('dialog', { name: 'AI Intern' });
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['%PDF-1.7\n%%EOF'], 'dropped.pdf', { type: 'application/pdf' }));
    return data;
  });
  await modal.getByLabel('Resume/CV').dispatchEvent('drop', { dataTransfer: dropped });
  await expect(modal.getByText('dropped.pdf')).toBeVisible();
  await page.evaluate(disableToastTimeouts);
  await submit(page);
  await expect(modal.getByText('We cannot take applications right now.')).toBeVisible();
  await expect(page.locator('[popover]:popover-open').getByText('Error')).toBeVisible();
  await expect(modal.getByLabel('Full Name')).toHaveValue('Ravi Kumar');
  await expect(modal.getByText('dropped.pdf')).toBeVisible();
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('503')]);
});

test('X, Cancel and Escape close the dialog and restore focus', async ({ page }) => {
  await page.goto('/careers');
  const opener = page.getByRole('link', { name: 'Apply Now' }).first();
  for (const close of [
    () => page.getByRole('dialog').getByRole('button', { name: 'Close' }).click(),
    () => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click(),
    () => page.keyboard.press('Escape'),
  ]) {
    await opener.click();
    await expect(page.getByRole('dialog', { name: 'Position' })).toBeVisible();
    await close();
    await expect(page.getByRole('dialog')).toBeHidden();
    await expect(opener).toBeFocused();
  }
});

test('an upload shows progress, and Cancel keeps the form', async ({ page, mailTo, mailsTo }) => {
  const email = uniqueEmail('ravi');
  await page.goto('/careers');
  await applyFor(page, 'AI Intern');
  await fill(page, email);
  await attach(page, 'resume.pdf', pdf(4 * MEGABYTE));
  const fast = await slowUpload(page);
  await submit(page);
  const modal = page.getByRole('dialog');
  const bar = modal.getByRole('progressbar');
  await expect(modal.getByRole('button', { name: 'Sending...' })).toBeDisabled();
  await expect.poll(() => bar.getAttribute('value').then(Number)).toBeGreaterThan(0.1);
  expect(Number(await bar.getAttribute('value'))).toBeLessThan(1);
  // The résumé must not change during the upload.
  await expect(modal.getByLabel('Resume/CV')).toBeDisabled();
  await modal.getByRole('button', { name: 'Cancel' }).click();

  await expect(modal.getByRole('button', { name: 'Submit Application' })).toBeEnabled();
  await expect(bar).toHaveCount(0);
  await expect(modal.getByLabel('Full Name')).toHaveValue('Ravi Kumar');
  await expect(modal.getByLabel('Cover Letter')).toHaveValue('I count people for fun.');
  await expect(modal.getByText('resume.pdf')).toBeVisible();
  await expect(page.getByText('Error', { exact: true })).toHaveCount(0);

  await fast();
  await submit(page);
  await expect(confirmation(page)).toBeFocused();
  await mailTo(RECRUITERS, email);
  expect(await mailsTo(RECRUITERS, email)).toHaveLength(1);
});

test('an interrupted upload is retried and succeeds', async ({
  page,
  baseURL,
  mailTo,
  mailsTo,
  consoleMessages,
}) => {
  const email = uniqueEmail('ravi');
  const proxy = await faultyProxyTo(baseURL ?? '', 2 * MEGABYTE);
  await page.clock.install();
  await page.goto(`${proxy.site}/careers`);
  await applyFor(page, 'AI Intern');
  await fill(page, email);
  await attach(page, 'resume.pdf', pdf(4 * MEGABYTE));
  const failed = page.waitForEvent('requestfailed', request =>
    request.url().endsWith('/api/career-application'),
  );
  await submit(page);
  await failed;
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeVisible();
  proxy.repair();
  // Skips the delay before the retry.
  await page.clock.runFor(1_000);
  await expect(confirmation(page)).toBeFocused();
  await mailTo(RECRUITERS, email);
  expect(await mailsTo(RECRUITERS, email)).toHaveLength(1);
  // The console message appears twice if the retry begins before the proxy is repaired.
  expectConsole(consoleMessages, /ERR_CONNECTION_RESET|ERR_EMPTY/);
  proxy.close();
});

async function applyFor(page: Page, title: string) {
  const position = page
    .locator('details')
    .filter({ has: page.getByRole('heading', { name: title }) });
  await position.locator('summary').click();
  await position.getByRole('link', { name: 'Apply for this position' }).click();
}

async function fill(page: Page, email: string) {
  const modal = page.getByRole('dialog');
  await modal.getByLabel('Full Name').fill('Ravi Kumar');
  await modal.getByLabel('Email').fill(email);
  await modal.getByLabel('Cover Letter').fill('I count people for fun.');
}

async function attach(page: Page, name: string, buffer: Buffer) {
  const file = { name, mimeType: 'application/pdf', buffer };
  await page.getByRole('dialog').locator('input[type="file"]').setInputFiles(file);
}

async function submit(page: Page) {
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Submit/ })
    .click();
}

/** Limits uploads to half a megabyte a second until the returned function is called. */
async function slowUpload(page: Page): Promise<() => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  const limit = (uploadThroughput: number) =>
    session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput,
    });
  await limit(MEGABYTE / 2);
  return () => limit(-1);
}

function pdf(size: number): Buffer {
  const [start, end] = [Buffer.from('%PDF-1.7\n'), Buffer.from('\nstartxref\n0\n%%EOF\n')];
  return Buffer.concat([start, randomBytes(size - start.length - end.length), end]);
}

/** The confirmation in the page, not the toast. */
function confirmation(page: Page) {
  return page.locator('main').getByRole('status').filter({ hasText: 'Application Submitted!' });
}
