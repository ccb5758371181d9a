import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dist } from '../../../build/file-paths.ts';
import { expect, hydrated, test, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';
import { dayAt, openOn } from '../../src/open-positions.ts';

const open = openOn(dayAt(Date.now()));
const RESUME = {
  name: 'resume.pdf',
  mimeType: 'application/pdf',
  buffer: Buffer.from('%PDF-1.7\nstartxref\n0\n%%EOF\n'),
};

test('a department filters the list and shows its count', { tag: '@standalone' }, async ({
  page,
}) => {
  await page.goto('/careers');
  await hydrated(page.locator('main h1'));
  const list = page.getByRole('region', { name: 'Open Positions' });
  const ofAll = Map.groupBy(open, ({ department }) => department);
  expect(ofAll.size).toBeGreaterThan(0);
  for (const [department, { length }] of ofAll) {
    await list.getByRole('button', { name: department }).click();
    await expect(list.locator('details')).toHaveCount(length);
    const count = length === 1 ? '1 position' : `${length} positions`;
    await expect(list.getByRole('status')).toHaveText(count);
  }
});

test('legacy URLs of a position redirect to its page', { tag: '@hosting' }, async ({ page }) => {
  for (const former of ['/careers?position=7', '/careers/apply/7']) {
    await page.goto(former);
    await expect(page).toHaveURL('/careers/backend-intern');
    await expect(page.locator('main h1')).toHaveText('Backend Intern');
  }
});

test('a visitor applies on the position’s page', {
  tag: ['@standalone', '@hosting'],
}, async ({ page, mailTo }) => {
  const email = uniqueEmail('ravi');
  await page.goto('/careers/backend-intern');
  await expect(page.getByText('in Rust, over gRPC')).toBeVisible();
  await page.getByRole('link', { name: 'Apply for this position' }).click();
  const form = page.getByRole('region', { name: 'Apply' });
  await expect(form).toBeInViewport();
  await expect(form.getByLabel('Position')).toHaveValue('Backend Intern');
  await form.getByLabel('Full Name').fill('Ravi Kumar');
  await form.getByLabel('Email').fill(email);
  await form.getByLabel('Cover Letter').fill('I count people for fun.');
  await form.locator('input[type=file]').setInputFiles(RESUME);
  await form.getByRole('button', { name: 'Submit Application' }).click();
  await expect(
    form.getByRole('status').filter({ hasText: 'Application Submitted!' }),
  ).toBeFocused();
  const mail = await mailTo('recruiters@oculant.example', email);
  expect(mail.subject).toContain('Backend Intern');
});

test('a closed position’s page works and links to careers', async ({ page }) => {
  await page.clock.setFixedTime('2999-01-01T12:00:00Z');
  // The page that the server sends after the closing date.
  const body = readFileSync(join(dist, 'careers/ai-intern.closed.html'), 'utf8');
  await page.route('**/careers/ai-intern', route =>
    route.fulfill({ status: 200, contentType: 'text/html; charset=utf-8', body }),
  );
  await page.goto('/careers/ai-intern');
  await expect(page.locator('main h1')).toHaveText('AI Intern: closed');
  await expect(page.locator('main form[action="/api/career-application"]')).toHaveCount(0);
  await page.getByRole('link', { name: 'Working With Us' }).click();
  await expect(page.getByText('0 positions')).toHaveRole('status');
});
