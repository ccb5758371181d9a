import type { ConsoleMessage, Locator, Page } from '@playwright/test';
import { test as base, expect } from '@playwright/test';
import { showTheme, violationsOf } from './accessibility.ts';
import { accessibilityTree, treeProblems } from './accessibility-tree.ts';
import { startDevServer } from './dev-server.ts';
import type { Mail } from './inbox.ts';
import { mailsTo, mailTo, uniqueEmail, untilDrained } from './inbox.ts';
import { randomClientIp } from './random-client-ip.ts';
import type { RunningStack } from './running-stack.ts';
import { runningStack, stackFile } from './running-stack.ts';
import type { ServerProcess } from './server-process.ts';
import { showPersistentToast } from './show-toast.ts';

/** What a project of Playwright's configuration says. */
export interface Options {
  /** The remote that runs standalone, by its own development server. */
  standalone: string | undefined;
}

interface Fixtures {
  stack: RunningStack;
  /** The first mail to an address that holds a text, once it is there. */
  mailTo: (address: string, text: string) => Promise<Mail>;
  /** All mails to an address that hold a text, once what was sent after them has arrived, too. */
  mailsTo: (address: string, text: string) => Promise<Mail[]>;
  /** What the console said. A test that says nothing of it wants it empty. */
  consoleMessages: string[];
  /** What nobody caught, which a test must name to allow it. */
  pageErrors: string[];
}

/** A test in a browser, by a visitor of its own, against the running stack. */
export const test = base.extend<Fixtures, Options & { devServer: ServerProcess | undefined }>({
  standalone: [undefined, { option: true, scope: 'worker' }],
  devServer: [
    async ({ standalone }, use) => {
      const server = standalone ? await startDevServer(standalone, stackFile()) : undefined;
      await use(server);
      server?.stop();
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern
  stack: async ({}, use) => use(runningStack()),
  // A standalone remote needs no stack, but for what its tests send.
  baseURL: async ({ devServer }, use) => use(devServer?.site ?? runningStack().site),
  // A network address of its own, so that no test uses up another one's rate limit.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  extraHTTPHeaders: async ({}, use) => use({ 'X-Forwarded-For': randomClientIp() }),
  page: async ({ page, standalone, consoleMessages, pageErrors, javaScriptEnabled }, use) => {
    // React's development build recommends its tools.
    const isHint = (message: ConsoleMessage) => standalone && message.type() === 'info';
    page.on('console', message => isHint(message) || consoleMessages.push(message.text()));
    page.on('pageerror', failure => pageErrors.push(String(failure)));
    const goto = page.goto.bind(page);
    page.goto = async (url, options) => {
      const answer = await goto(url, options);
      if (javaScriptEnabled) {
        await started(page, options?.waitUntil);
      }
      return answer;
    };
    await use(page);
    // Here and not of every test: one that asks for nothing but `request` starts no browser.
    expect(consoleMessages, 'the console stays silent').toEqual([]);
    expect(pageErrors, 'everything is caught').toEqual([]);
  },
  mailTo: async ({ stack }, use) => use((address, text) => mailTo(stack, address, text)),
  mailsTo: async ({ stack }, use) =>
    use(async (address, text) => {
      await untilDrained(stack);
      return mailsTo(stack, address, text);
    }),
  // biome-ignore lint/correctness/noEmptyPattern: see above
  consoleMessages: async ({}, use) => use([]),
  // biome-ignore lint/correctness/noEmptyPattern: see above
  pageErrors: async ({}, use) => use([]),
});

/** A page is pressed no sooner than its application has started; who goes to one with `commit` waits by itself. */
async function started(page: Page, waitUntil: string | undefined) {
  if (waitUntil !== 'commit') {
    await hydrated(page.locator('main h1'));
  }
}

/** Opens a page whose remote is not to come: what the shell has of it, the remote's place included, is hydrated. */
export async function openWithout(page: Page, remote: string, address: string): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await hydrated(page.locator(`[data-area="${remote}"]`));
}

const POLL_INTERVALS_MS = [20, 20, 40, 40, 80];

/** Waits until React has hydrated an element: before that, nothing happens when it is pressed. */
export async function hydrated(element: Locator): Promise<void> {
  const isHydrated = () =>
    element.evaluate(node => Object.keys(node).some(key => key.startsWith('__react')));
  await expect.poll(isHydrated, { intervals: POLL_INTERVALS_MS }).toBe(true);
}

/**
 * Expects no fault in the accessibility tree, and none that axe finds in the light theme. At night axe looks at both themes
 * (`shell/tests/nightly/axe.test.ts`); what contrast the colours have, `kit/src/tokens.test.ts` computes for both.
 */
export async function expectAccessible(page: Page): Promise<void> {
  expect(treeProblems(await accessibilityTree(page)), 'accessibility tree').toEqual([]);
  await showTheme(page, 'light');
  expect(await violationsOf(page), 'axe').toEqual([]);
}

/** Expects that the console said this, more than once or not, and nothing else. */
export function expectConsole(consoleMessages: string[], words: RegExp): void {
  expect(consoleMessages).not.toEqual([]);
  for (const word of consoleMessages.splice(0)) {
    expect(word).toMatch(words);
  }
}

/** Expects that nothing must be scrolled sideways at a size of the window. */
export async function expectFits(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  const spare = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(spare, `${width} pixels`).toBe(0);
}

export { expect, showPersistentToast, uniqueEmail };
