import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page, Route } from '@playwright/test';
import type { BuildManifest } from '../../../build/document.ts';
import { dist, manifestFile } from '../../../build/file-paths.ts';
import { advanceClockUntil } from '../../../kit/testing/page-time.ts';
import { expect, hydrated, test } from '../../../kit/testing/playwright-fixtures.ts';
import { randomClientIp } from '../../../kit/testing/random-client-ip.ts';
import { showToast } from '../../../kit/testing/show-toast.ts';

// Each script and stylesheet fails alone, in three ways: see docs/testing.md.

const LOSSES: Readonly<Record<string, (route: Route) => Promise<void> | undefined>> = {
  'is missing (404)': route => route.fulfill({ status: 404, body: 'Nothing here' }),
  'is refused (503)': route => route.fulfill({ status: 503, body: 'Busy' }),
  hangs: () => undefined,
};
/** Ten steps of simulated time are longer than all retries and timeouts. */
const STEP_MS = 2000;
const STEPS = 10;

/** `act` causes the request for the file. */
interface Visit {
  address: string;
  act?: (page: Page) => Promise<void>;
}

/** Visits by chunk, for chunks that no page's HTML names. */
const VISITS: Readonly<Record<string, Visit>> = {
  'solutions-preview': { address: '/' },
  'blog-teasers': { address: '/' },
  toaster: { address: '/contact', act: readNotice },
};
/** Refusal pages run no scripts. */
const NEVER_ASKED_FOR = ['refused', 'not-applied'];

const site: BuildManifest & { files: readonly string[] } = JSON.parse(
  readFileSync(manifestFile, 'utf8'),
);

for (const [file, chunk] of lostFiles()) {
  for (const [loss, lose] of Object.entries(LOSSES)) {
    test(`${file} ${loss}: its page keeps its text and links`, async ({ browser, stack }) => {
      const { address, act } = visitOf(file, chunk);
      const texts = await textsWithoutScript(browser, stack.site + address);
      expect(texts.length).toBeGreaterThan(1);
      const visitor = await browser.newContext({
        baseURL: stack.site,
        reducedMotion: 'reduce',
        extraHTTPHeaders: { 'X-Forwarded-For': randomClientIp() },
      });
      const page = await visitor.newPage();
      await page.clock.install();
      let asked = 0;
      await page.route(
        ({ pathname }) => pathname === file,
        route => {
          asked += 1;
          return lose(route);
        },
      );
      await page.goto(address, { waitUntil: 'commit' });
      // Simulated time may pass faster than the browser detects elements in the viewport.
      await expect(async () => {
        await throughThePage(page);
        expect(act ?? asked).toBeTruthy();
      }).toPass({ intervals: [0], timeout: 30_000 });
      // After this, all retries of the last request are over.
      await throughThePage(page);
      await settled(async () => expect(await missing(page, texts)).toEqual([]));
      await act?.(page);
      expect(asked).toBeGreaterThan(0);
      await leadsOn(page);
      await visitor.close();
    });
  }
}

/** Files by path, with their chunk. */
function lostFiles(): ReadonlyMap<string, string> {
  const chunks = [site.shell, ...site.remotes.map(({ chunks }) => chunks)].flatMap(Object.entries);
  return new Map(
    chunks
      .filter(([chunk]) => !NEVER_ASKED_FOR.includes(chunk))
      .flatMap(([chunk, files]: [string, readonly string[]]) =>
        files.filter(file => /\.(?:js|css)$/.test(file)).map(file => [file, chunk] as const),
      ),
  );
}

function visitOf(file: string, chunk: string): Visit {
  const [, post] = /^post-(.+)/.exec(chunk) ?? [];
  const known = post ? { address: '/blog', act: readArticle(post) } : VISITS[chunk];
  return known ?? { address: addressNaming(file) };
}

/** Address of a page that names the file. For a remote's file, it is one of the remote's own pages. */
function addressNaming(file: string): string {
  const [, remote] = /^\/remotes\/(\w+)\//.exec(file) ?? [];
  const page = site.files
    .filter(page => !remote || page.startsWith(remote))
    .find(page => readFileSync(join(dist, page), 'utf8').includes(file));
  if (!page) {
    throw new Error(`No page asks for ${file}: say in VISITS by what it is`);
  }
  return addressOf(page);
}

function addressOf(page: string): string {
  const [, opening] = /^index\.(\w+)\.html$/.exec(page) ?? [];
  return opening
    ? `/?variant=${opening}`
    : `/${page.replace(/(?:^index)?\.html$/, '').replace('404', 'no-such-page')}`;
}

async function textsWithoutScript(browser: Browser, address: string): Promise<string[]> {
  const visitor = await browser.newContext({ javaScriptEnabled: false });
  const page = await visitor.newPage();
  await page.goto(address);
  const texts = await readable(page);
  await visitor.close();
  return texts;
}

async function readable(page: Page): Promise<string[]> {
  const texts = await page.locator('main :is(h1, h2, h3, p)').allInnerTexts();
  return texts.map(text => text.trim()).filter(Boolean);
}

async function missing(page: Page, texts: readonly string[]): Promise<string[]> {
  const there = await readable(page);
  return texts.filter(text => !there.includes(text));
}

async function throughThePage(page: Page) {
  await page.waitForLoadState('domcontentloaded');
  for (let step = 1; step <= STEPS; step += 1) {
    await settled(async () => {
      await page.evaluate(
        part => scrollTo(0, document.documentElement.scrollHeight * part),
        step / STEPS,
      );
      await page.clock.runFor(STEP_MS);
    });
  }
}

/** An outdated page may reload itself at any time. */
function settled(asked: () => Promise<void>): Promise<void> {
  return expect(asked).toPass({ intervals: [0], timeout: 10_000 });
}

/** The text or the error message must show. */
function readArticle(id: string) {
  return async (page: Page) => {
    // Before hydration the link would load the document with the text.
    await hydrated(page.locator('main h1'));
    await page.locator(`main a[href="/blog/${id}"]`).first().click();
    await expect(page).toHaveURL(`/blog/${id}`);
    await readOneOf(page, '.article', 'The text of this article did not load');
  };
}

async function readNotice(page: Page) {
  await showToast(page, 'Your draft is back');
  await advanceClockUntil(page, () =>
    expect(page.getByText('Your draft is back')).toBeVisible({ timeout: 200 }),
  );
}

async function leadsOn(page: Page) {
  const heading = (await page.locator('main h1').textContent()) ?? '';
  const to = new URL(page.url()).pathname === '/about' ? 'Contact' : 'About';
  await page.getByRole('banner').getByRole('link', { name: to, exact: true }).click();
  await expect(page).toHaveURL(`/${to.toLowerCase()}`);
  await advanceClockUntil(page, async () => {
    const another = page.locator('main h1').filter({ hasNotText: heading });
    await expect(another.or(page.getByText('did not load')).first()).toBeVisible({ timeout: 200 });
  });
}

async function readOneOf(page: Page, selector: string, words: string) {
  const either = page.locator(selector).or(page.getByText(words)).first();
  await advanceClockUntil(page, () => expect(either).toBeVisible({ timeout: 200 }));
}
