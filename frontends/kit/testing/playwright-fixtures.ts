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

export interface Options {
  standalone: string | undefined;
}

interface Fixtures {
  stack: RunningStack;
  mailTo: (address: string, text: string) => Promise<Mail>;
  /** Mails to an address that contain a text, after all earlier mails have arrived. */
  mailsTo: (address: string, text: string) => Promise<Mail[]>;
  /** Console messages. A test removes those that it expects, and fails if any others remain. */
  consoleMessages: string[];
  /** Uncaught exceptions. A test must remove those that it expects. */
  pageErrors: string[];
}

/** Browser test with its own visitor, against the running stack. */
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
  // A standalone remote needs the stack only for the API.
  baseURL: async ({ devServer }, use) => use(devServer?.site ?? runningStack().site),
  // Tests must not share a rate limit, so each has its own IP address.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  extraHTTPHeaders: async ({}, use) => use({ 'X-Forwarded-For': randomClientIp() }),
  page: async ({ page, standalone, consoleMessages, pageErrors, javaScriptEnabled }, use) => {
    // React's development build logs a hint to install its DevTools.
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
    // Checked here, because a test that uses only `request` must not start a browser.
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

/** Waits for hydration, so that no test clicks too early. Tests that use `commit` wait themselves. */
async function started(page: Page, waitUntil: string | undefined) {
  if (waitUntil !== 'commit') {
    await hydrated(page.locator('main h1'));
  }
}

/** Opens a page whose remote does not load, and waits until React has hydrated the shell's slot for it. */
export async function openWithout(page: Page, remote: string, address: string): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await hydrated(page.locator(`[data-area="${remote}"]`));
}

const POLL_INTERVALS_MS = [20, 20, 40, 40, 80];

/** Waits until React has hydrated an element. Before that, a click has no effect. */
export async function hydrated(element: Locator): Promise<void> {
  const isHydrated = () =>
    element.evaluate(node => Object.keys(node).some(key => key.startsWith('__react')));
  await expect.poll(isHydrated, { intervals: POLL_INTERVALS_MS }).toBe(true);
}

/**
 * Checks the accessibility tree, and the light theme with axe. `shell/tests/nightly/axe.test.ts` checks both
 * themes at night, and `kit/src/tokens.test.ts` the contrast of both.
 */
export async function expectAccessible(page: Page): Promise<void> {
  expect(treeProblems(await accessibilityTree(page)), 'accessibility tree').toEqual([]);
  await showTheme(page, 'light');
  expect(await violationsOf(page), 'axe').toEqual([]);
}

/** Expects console messages, all of which match, and removes them. */
export function expectConsole(consoleMessages: string[], words: RegExp): void {
  expect(consoleMessages).not.toEqual([]);
  for (const word of consoleMessages.splice(0)) {
    expect(word).toMatch(words);
  }
}

/** Expects no horizontal scrolling at a viewport size. */
export async function expectFits(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  const spare = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(spare, `${width} pixels`).toBe(0);
}

export { expect, showPersistentToast, uniqueEmail };
