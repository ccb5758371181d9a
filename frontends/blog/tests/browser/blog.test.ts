import type { Page } from '@playwright/test';
import { expect, hydrated, test, uniqueEmail } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

const NEWEST = 'AI advancements in video surveillance: from recording to noticing';

test('categories filter the list, show a count and have URLs', {
  tag: ['@standalone', '@hosting'],
}, async ({ page }) => {
  await page.goto('/blog');
  await hydrated(page.locator('main h1'));
  await expect(cards(page)).toHaveCount(6);
  const list = page.getByRole('heading', { name: 'Latest Articles' });
  await list.evaluate(heading => heading.setAttribute('data-stays', ''));
  await category(page, 'Technology').click();
  await expect(page).toHaveURL('/blog/category/technology#articles');
  await expect(page.getByText('2 articles in Technology')).toHaveRole('status');
  await expect(cards(page)).toHaveCount(2);
  await expect(list).toBeInViewport();
  await expect(list).toHaveAttribute('data-stays');

  await page.goBack();
  await expect(cards(page)).toHaveCount(6);
  await category(page, 'Case Studies').click();
  await expect(cards(page)).toHaveText([/retail chain/]);
  await page.reload();
  await expect(cards(page)).toHaveText([/retail chain/]);
  await expect(category(page, 'Case Studies')).toHaveAttribute('aria-current', 'true');
  await category(page, 'All').click();
  await expect(page).toHaveURL('/blog#articles');
});

test('an unknown category is a 404, also after hydration', {
  tag: '@hosting',
}, async ({ page, consoleMessages }) => {
  const answer = await page.goto('/blog/category/gossip');
  expect(answer?.status()).toBe(404);
  await hydrated(page.locator('main h1'));
  await expect(page.locator('main h1')).toHaveText('Blog Post Not Found');
  expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('404')]);
});

test('an article links to its sections and to the list', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/blog/ai-advancements');
  await page.getByRole('navigation', { name: 'On this page' }).getByText('References').click();
  await expect(page).toHaveURL('/blog/ai-advancements#references');
  await expect(page.getByRole('heading', { name: 'References' })).toBeInViewport();
  await page.getByRole('link', { name: 'Back to Blog' }).click();
  await expect(page).toHaveURL('/blog');
});

test('search works offline once its field was focused', {
  tag: ['@standalone', '@hosting'],
}, async ({ page, context, consoleMessages }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto('/blog', { waitUntil: 'networkidle' });
  await hydrated(page.locator('main h1'));
  expect(asked.filter(url => /\/search\b/.test(url))).toEqual([]);
  const field = page.getByRole('searchbox', { name: 'Search articles' });
  await field.focus();
  await page.waitForLoadState('networkidle');
  await expect.poll(() => asked.some(url => /\/search\b/.test(url))).toBe(true);
  await page.waitForLoadState('networkidle');
  await context.setOffline(true);
  await field.fill('forklift');
  await expect(page.getByText('on “forklift”')).toHaveRole('status');
  await expect(cards(page).first()).toBeVisible();
  await expect(page).toHaveURL('/blog?q=forklift');
  await field.fill('zeppelin');
  await expect(page.getByText('No article has anything on “zeppelin”')).toBeVisible();
  await field.fill('');
  await expect(cards(page)).toHaveCount(6);
  await context.setOffline(false);
  // Pictures and prefetched pages fail while offline.
  const others = consoleMessages.splice(0).filter(text => !text.includes('INTERNET_DISCONNECTED'));
  expect(others).toEqual([]);
});

test('the table of contents marks the current section', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto('/blog/ai-advancements');
  await hydrated(page.locator('.article'));
  const contents = page.getByRole('navigation', { name: 'On this page' });
  const current = contents.locator('[aria-current=location]');
  await expect(current).toHaveCount(0);
  for (const title of [
    'Physics still applies',
    'What it still cannot do',
    'The problem was never the camera',
  ]) {
    await page.getByRole('heading', { name: title }).evaluate(heading => heading.scrollIntoView());
    await expect(current).toHaveText(title);
  }
});

test('both newsletter forms of an article work', { tag: ['@standalone', '@hosting'] }, async ({
  page,
  mailTo,
}) => {
  await page.goto('/blog/smart-home');
  await hydrated(page.locator('main h1'));
  for (const name of ['Oculant Insights Newsletter', 'Stay in the Loop']) {
    const email = uniqueEmail('article');
    const form = page.getByRole('region', { name });
    await form.getByLabel('Email Address').fill(email);
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await expect(form.getByText('Thank you for subscribing!')).toBeVisible();
    await mailTo(email, 'newsletter=confirm');
  }
});

test('a prerendered article does not fetch its text', {
  tag: '@hosting',
}, async ({ page }) => {
  const asked: string[] = [];
  page.on('request', request => asked.push(request.url()));
  await page.goto('/blog/ai-advancements', { waitUntil: 'networkidle' });
  await hydrated(page.locator('.article'));
  expect(asked.filter(url => url.includes('/post-'))).toEqual([]);
});

test('a failed text leaves the page usable; Retry loads it', async ({ page, consoleMessages }) => {
  const reports = reportsOf(page);
  await page.clock.install();
  await page.route('**/assets/post-*', route => route.abort());
  await page.goto('/blog');
  await hydrated(page.locator('main h1'));
  await page.getByRole('link', { name: NEWEST }).click();
  await untilReported(page, reports, { remote: 'blog', reason: 'unreachable' });
  await expect(page.getByText('The text of this article did not load')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(NEWEST);
  await page.unroute('**/assets/post-*');
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
  expect(consoleMessages.splice(0).filter(text => !text.includes('ERR_FAILED'))).toEqual([]);
});

function category(page: Page, name: string) {
  const categories = page.getByRole('navigation', { name: 'Categories' });
  return categories.getByRole('link', { name, exact: true });
}

function cards(page: Page) {
  return page.getByRole('region', { name: 'Latest Articles' }).getByRole('article');
}
