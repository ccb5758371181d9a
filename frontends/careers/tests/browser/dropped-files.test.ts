import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { test as base, expect } from '../../../kit/testing/playwright-fixtures.ts';

// The browser must never replace the page with a dropped file.

const test = base.extend<{ resume: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern
  resume: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'dropped-'));
    const file = join(folder, 'dropped.pdf');
    await writeFile(file, '%PDF-1.7\n%%EOF\n');
    await use(file);
    await rm(folder, { recursive: true });
  },
});

async function drop(page: Page, files: string[], x: number, y: number) {
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    const data = { items: [], files, dragOperationsMask: 1 };
    await session.send('Input.dispatchDragEvent', { type, x, y, data });
  }
  await session.detach();
}

/** Fails if the browser has navigated, because a new page lacks the mark. */
async function expectSamePage(page: Page, path: string) {
  await page.evaluate(() => new Promise(done => setTimeout(done, 300)));
  expect(await page.evaluate(() => 'mark' in window)).toBe(true);
  await expect(page).toHaveURL(path);
  expect(page.context().pages()).toHaveLength(1);
}

for (const path of ['/careers', '/careers/apply', '/contact', '/', '/careers/not-applied']) {
  // Scripts are aborted, so this tests the page before the application starts.
  test(`a file dropped on ${path} does not replace the page`, async ({
    page,
    resume,
    consoleMessages,
  }) => {
    await page.route('**/*.js*', route => route.abort());
    await page.goto(path, { waitUntil: 'commit' });
    await expect(page.locator('main h1')).toBeVisible();
    await page.evaluate(() => Object.assign(window, { mark: true }));
    await drop(page, [resume], 200, 90);
    await expectSamePage(page, path);
    consoleMessages.splice(0);
  });
}

test('a file dropped beside the dialog becomes the résumé', async ({ page, resume }) => {
  await page.goto('/careers');
  await page.evaluate(() => Object.assign(window, { mark: true }));
  await page.getByRole('link', { name: 'Apply Now' }).first().click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await drop(page, [resume], 10, 400);
  await expect(dialog.getByText('dropped.pdf')).toBeVisible();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  const box = await dialog.boundingBox();
  await drop(page, [resume], (box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
  await expect(dialog.getByText('dropped.pdf')).toBeVisible();
  await expectSamePage(page, '/careers');
});

test('dropping several files takes none', async ({ page, resume }) => {
  await page.goto('/careers');
  await page.getByRole('link', { name: 'Apply Now' }).first().click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await drop(page, [resume, resume], 10, 400);
  await expect(dialog.getByText('Drop one file.')).toBeVisible();
});
