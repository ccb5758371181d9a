import { createHash, randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { expect, someone, test } from '../../../kit/testing/browser.ts';
import { badLineTo } from '../../../kit/testing/line.ts';

const RECRUITERS = 'recruiters@oculant.example';
const MEGABYTE = 1024 * 1024;
/** How long some megabytes may take on a machine that does other things, too. */
const SENT = 15_000;

test('an application reaches the recruiters, and its link returns the very same résumé', async ({
  page,
  mailTo,
}) => {
  const email = someone('ravi');
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
  await submit(page);

  await expect(page.getByText('Application Submitted!')).toBeVisible({ timeout: SENT });
  await expect(
    page.getByText("Thank you for your interest. We'll get back to you soon."),
  ).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
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
  expect(acknowledgement.text).toContain('résumé.pdf');
});

test('what is no résumé is refused before anything is sent', async ({ page }) => {
  const posts: string[] = [];
  page.on('request', request => request.method() === 'POST' && posts.push(request.url()));
  await page.goto('/careers');
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await page.getByRole('dialog').getByLabel('Position').fill('AI Intern');
  await fill(page, someone());
  await attach(page, 'resume.pdf', Buffer.from('I am only called a PDF'));
  await expect(
    page
      .getByRole('dialog')
      .getByText(/PDF, DOC or DOCX/i)
      .last(),
  ).toBeVisible();
  await attach(page, 'resume.pdf', pdf(10 * MEGABYTE + 1));
  await expect(
    page
      .getByRole('dialog')
      .getByText(/10 MiB|10 MB/)
      .last(),
  ).toBeVisible();
  await submit(page);
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(posts).toEqual([]);
});

test('a refused application stays as it was typed, with the server’s sentence', async ({
  page,
  said,
}) => {
  const keys: (string | undefined)[] = [];
  await page.route('**/api/career-application', route => {
    keys.push(route.request().headers()['idempotency-key']);
    return route.fulfill({
      status: 503,
      json: { success: false, error: 'We cannot take applications right now.' },
    });
  });
  await page.goto('/careers');
  await applyFor(page, 'Marketing Intern');
  await fill(page, 'ravi@example.com');
  await attach(page, 'resume.pdf', pdf(1000));
  await submit(page);
  const modal = page.getByRole('dialog', { name: 'Marketing Intern' });
  await expect(modal.getByText('We cannot take applications right now.')).toBeVisible();
  // The notice lies above the open window.
  await expect(page.locator('[popover]:popover-open').getByText('Error')).toBeVisible();
  await expect(modal.getByLabel('Full Name')).toHaveValue('Ravi Kumar');
  await expect(modal.getByText('resume.pdf')).toBeVisible();
  // It may have been stored all the same: pressed again, it is the same application.
  await submit(page);
  await expect.poll(() => keys.length).toBe(2);
  expect(keys[1]).toBe(keys[0]);

  await page.unroute('**/api/career-application');
  await page.route('**/api/career-application', route =>
    route.fulfill({ json: { success: false } }),
  );
  await submit(page);
  await expect(modal.getByText('Failed to submit application. Please try again.')).toBeVisible();
  await expect(page.getByText('Error', { exact: true }).first()).toBeVisible();
  said.splice(0);
});

test('a lost connection is tried again under the same key, and one application arrives', async ({
  page,
  mailTo,
  mailsTo,
  said,
}) => {
  const email = someone('ravi');
  const keys: (string | undefined)[] = [];
  await page.route('**/api/career-application', async route => {
    keys.push(route.request().headers()['idempotency-key']);
    await (keys.length === 1 ? route.abort('connectionreset') : route.continue());
  });
  await page.goto('/careers');
  await applyFor(page, 'Marketing Intern');
  await fill(page, email);
  await attach(page, 'resume.pdf', pdf(200_000));
  await submit(page);
  await expect(page.getByText('Application Submitted!')).toBeVisible({ timeout: SENT });
  expect(keys).toHaveLength(2);
  expect(keys[0]).toBe(keys[1]);
  await mailTo(RECRUITERS, email);
  await mailTo(email, 'resume.pdf');
  expect(await mailsTo(RECRUITERS, email)).toHaveLength(1);
  said.splice(0);
});

test('the modal closes by X, Cancel and Escape, and gives the focus back', async ({ page }) => {
  await page.goto('/careers');
  const opener = page.getByRole('button', { name: 'Apply Now' }).first();
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

test('a draft of an application survives a reload (section 4)', async ({ page }) => {
  await page.goto('/careers');
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await page.getByLabel('Cover Letter').fill('I count people for fun.');
  await page.reload();
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await expect(page.getByLabel('Cover Letter')).toHaveValue('I count people for fun.');
});

test('a draft of an application survives going away and back @shell', async ({ page }) => {
  await page.goto('/careers');
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await page.getByLabel('Cover Letter').fill('I count people for fun.');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  await page.goBack();
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await expect(page.getByLabel('Cover Letter')).toHaveValue('I count people for fun.');
});

test('a running upload tells how far it is and can be called off, and nothing is lost', async ({
  page,
  mailTo,
  mailsTo,
  said,
}) => {
  const email = someone('ravi');
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
  // What is under way is what is shown.
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
  await expect(page.getByText('Application Submitted!')).toBeVisible({ timeout: SENT });
  await mailTo(RECRUITERS, email);
  expect(await mailsTo(RECRUITERS, email)).toHaveLength(1);
  said.splice(0);
});

test('an upload whose line breaks in the middle goes through by itself', async ({
  page,
  baseURL,
  mailTo,
  mailsTo,
  said,
}) => {
  const email = someone('ravi');
  const line = await badLineTo(baseURL ?? '', 2 * MEGABYTE);
  await page.goto(`${line.site}/careers`);
  await applyFor(page, 'AI Intern');
  await fill(page, email);
  await attach(page, 'resume.pdf', pdf(4 * MEGABYTE));
  const failed = page.waitForEvent('requestfailed');
  await submit(page);
  await failed;
  await expect(page.getByRole('button', { name: 'Sending...' })).toBeVisible();
  line.mend();
  await expect(page.getByText('Application Submitted!')).toBeVisible({ timeout: SENT });
  await mailTo(RECRUITERS, email);
  expect(await mailsTo(RECRUITERS, email)).toHaveLength(1);
  // Once, or once more where the line was mended only after the next try had begun.
  const words = said.splice(0);
  expect(words).not.toEqual([]);
  for (const word of words) {
    expect(word).toMatch(/ERR_CONNECTION_RESET|ERR_EMPTY/);
  }
  line.close();
});

test('what is called off between two attempts ends at once', async ({ page, context, said }) => {
  await page.goto('/careers');
  await applyFor(page, 'AI Intern');
  await fill(page, 'ravi@example.com');
  await attach(page, 'resume.pdf', pdf(1000));
  await context.setOffline(true);
  const failed = page.waitForEvent('requestfailed');
  await submit(page);
  await failed;
  const modal = page.getByRole('dialog');
  await modal.getByRole('button', { name: 'Cancel' }).click();
  await expect(modal.getByRole('button', { name: 'Submit Application' })).toBeEnabled({
    timeout: 500,
  });
  await expect(page.getByText('Error', { exact: true })).toHaveCount(0);
  await context.setOffline(false);
  said.splice(0);
});

test('Apply Now preselects nothing, whatever was applied for before; the résumé stays chosen', async ({
  page,
}) => {
  await page.goto('/careers');
  await applyFor(page, 'AI Intern');
  await fill(page, 'ravi@example.com');
  const modal = page.getByRole('dialog');
  await submit(page);
  await expect(modal.getByText('Choose your résumé.').first()).toBeVisible();
  await attach(page, 'resume.pdf', pdf(1000));
  await expect(modal.locator('[aria-invalid=true]')).toHaveCount(0);
  await modal.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  await expect(modal.getByLabel('Position')).toHaveValue('');
  await expect(modal.getByLabel('Full Name')).toHaveValue('Ravi Kumar');
  await expect(modal.getByText('resume.pdf')).toBeVisible();
});

test('a résumé can be dropped onto its field, and removed', async ({ page }) => {
  await page.goto('/careers');
  await page.getByRole('button', { name: 'Apply Now' }).first().click();
  const modal = page.getByRole('dialog');
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['%PDF-1.7\n%%EOF'], 'dropped.pdf', { type: 'application/pdf' }));
    return data;
  });
  await modal.getByLabel('Resume/CV').dispatchEvent('drop', { dataTransfer: dropped });
  await expect(modal.getByText('dropped.pdf')).toBeVisible();
  await modal.getByRole('button', { name: /Remove/ }).click();
  await expect(modal.getByText('dropped.pdf')).toHaveCount(0);
});

async function applyFor(page: Page, title: string) {
  const position = page
    .locator('details')
    .filter({ has: page.getByRole('heading', { name: title }) });
  await position.locator('summary').click();
  await position.getByRole('button', { name: 'Apply for this position' }).click();
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

/** Lets the page send half a megabyte a second, until the returned function is called. */
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

/** A file of that size which is a PDF as far as its first bytes tell. */
function pdf(size: number): Buffer {
  const [start, end] = [Buffer.from('%PDF-1.7\n'), Buffer.from('\n%%EOF\n')];
  return Buffer.concat([start, randomBytes(size - start.length - end.length), end]);
}
