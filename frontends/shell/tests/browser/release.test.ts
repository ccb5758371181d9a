import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { dist } from '../../../build/file-paths.ts';
import { gateway } from '../../../kit/testing/gateway.ts';
import type { ModifiedBuild } from '../../../kit/testing/modified-builds.ts';
import { CHANGED, modifiedBuild, TITLE } from '../../../kit/testing/modified-builds.ts';
import { expect, expectConsole, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import type { ServerProcess } from '../../../kit/testing/server-process.ts';

// A blog with one more article is released alone. Each test continues from the one before.
test.describe.configure({ mode: 'serial' });

const folder = mkdtempSync(join(tmpdir(), 'release-'));
const site = join(folder, 'site');
let served: ServerProcess;
let opened: Page;
const pageErrors: string[] = [];

test.beforeAll(async ({ browser }) => {
  cpSync(dist, site, { recursive: true });
  served = await gateway(site);
  opened = await browser.newPage();
  opened.on('pageerror', failure => pageErrors.push(String(failure)));
});
test.afterAll(async () => {
  await opened.close();
  served.stop();
  rmSync(folder, { recursive: true });
});

test('before the release the blog has six articles', async () => {
  await opened.goto(`${served.site}/blog`);
  await hydrated(opened.locator('main h1'));
  await expect(opened.getByRole('article')).toHaveCount(6);
});

test('the unchanged shell shows a new blog after the swap', async ({ page, consoleMessages }) => {
  const next = join(folder, 'next');
  cpSync(join(modifiedBuild('blog-swapped'), 'remotes/blog'), next, { recursive: true });
  rmSync(join(site, 'remotes/blog'), { recursive: true });
  renameSync(next, join(site, 'remotes/blog'));

  await page.goto(`${served.site}/`);
  const teasers = page.getByRole('region', { name: 'Latest Insights' });
  await teasers.scrollIntoViewIfNeeded();
  await expect(teasers.getByRole('article').first()).toContainText(TITLE);
  await page.goto(`${served.site}/blog`);
  await expect(page.getByRole('article').first()).toContainText(TITLE);
  const second = page.getByRole('link', { name: '2', exact: true });
  await second.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('7 articles, showing 7 to 7')).toBeVisible();
  await expect(second).toBeFocused();
  // The old build's prerendered text must not show.
  await page.goto(`${served.site}/blog/smart-home`);
  await expect(page.getByText(CHANGED)).toBeVisible();
  // Old HTML still names the old stylesheet and pictures, which are gone.
  expectConsole(consoleMessages, /404/);
});

test('a page opened before the release keeps working', async () => {
  await opened.getByRole('link', { name: 'Technology', exact: true }).click();
  await expect(opened.getByText('2 articles in Technology')).toBeVisible();
  // The old files are gone, so the page reloads itself.
  await opened.getByRole('article').first().getByRole('link').click();
  await expect(opened.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
  expect(await opened.evaluate(() => performance.getEntriesByType('navigation')[0])).toMatchObject({
    type: 'reload',
  });
  await hydrated(opened.locator('main h1'));
  await opened.getByRole('link', { name: 'Back to Blog' }).click();
  await expect(opened.getByRole('article').first()).toContainText(TITLE);
  expect(pageErrors).toEqual([]);
});

test('a release renders the remote’s pages, so posts show everywhere', async ({
  page,
  request,
}) => {
  const shellsOwn = () => readFileSync(join(site, 'about.html'), 'utf8');
  const before = shellsOwn();
  putInPlace('blog-released');
  expect(shellsOwn()).toBe(before);

  for (const file of ['index.html', 'blog.html', 'blog/dusty.html', 'blog/feed.xml']) {
    expect(readFileSync(join(site, file), 'utf8'), file).toContain(TITLE);
  }
  expect(readFileSync(join(site, 'sitemap.xml'), 'utf8')).toContain('/blog/dusty<');
  await page.goto(`${served.site}/blog/dusty`);
  await hydrated(page.locator('main h1'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(TITLE);
  await page.goto(`${served.site}/blog`);
  await expect(page.getByRole('article').first()).toContainText(TITLE);

  const answer = await request.get(`${served.site}/blog/dusty`);
  expect(await answer.text()).toContain('Somebody wiped the lens');
});

test('a deleted post is gone after the next release', async ({ request }) => {
  putInPlace('blog-without-post');
  const status = async () => (await request.get(`${served.site}/blog/dusty`)).status();
  await expect.poll(status).toBe(404);
  const list = async () => (await request.get(`${served.site}/blog`)).text();
  await expect.poll(list).not.toContain(TITLE);
});

function putInPlace(name: ModifiedBuild) {
  rmSync(site, { recursive: true });
  cpSync(modifiedBuild(name), site, { recursive: true });
}
