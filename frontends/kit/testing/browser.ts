import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { ConsoleMessage, Locator, Page } from '@playwright/test';
import { test as base, expect } from '@playwright/test';
import { devServer } from './dev-server.ts';
import type { Program } from './program.ts';

/** What browser tests need of the file that a running stack writes. */
export interface Stack {
  /** Address of the site. */
  site: string;
  inbox: { web: string };
  pids: Record<string, number>;
}

/** A mail as the inbox tells of it. */
export interface Mail {
  id: string;
  subject: string;
  text: string;
  html: string;
  to: { address: string; name: string }[];
  headers: Record<string, string>;
}

/** What a project of Playwright's configuration says. */
export interface Options {
  /** The remote that is shown by its own development server, without the shell. */
  alone: string | undefined;
}

interface Fixtures {
  stack: Stack;
  /** The first mail to an address that holds a text, once it is there. */
  mailTo: (address: string, text: string) => Promise<Mail>;
  /** All mails to an address that hold a text, by now. */
  mailsTo: (address: string, text: string) => Promise<Mail[]>;
  /** What the console said. A test that says nothing of it wants it empty. */
  said: string[];
  /** What nobody caught, which a test must name to allow it. */
  uncaught: string[];
}

const file = process.env['STACK_FILE'] ?? join(import.meta.dirname, '../../../target/stack.json');

/** A test in a browser, by a visitor of its own, against the running stack. */
export const test = base.extend<Fixtures, Options & { own: Program | undefined }>({
  alone: [undefined, { option: true, scope: 'worker' }],
  own: [
    async ({ alone }, use) => {
      const server = alone ? await devServer(alone, file) : undefined;
      await use(server);
      server?.stop();
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures from the pattern
  stack: async ({}, use) => use(runningStack()),
  // A remote that is shown alone needs no stack, but for what its tests send.
  baseURL: async ({ own }, use) => use(own?.site ?? runningStack().site),
  // A network address of its own, so that no test uses up another one's rate limit.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  extraHTTPHeaders: async ({}, use) =>
    use({ 'X-Forwarded-For': `10.${byte()}.${byte()}.${byte()}` }),
  page: async ({ page }, use) => {
    const goto = page.goto.bind(page);
    page.goto = async (url, options) => {
      const answer = await goto(url, options);
      await started(page, options?.waitUntil);
      return answer;
    };
    await use(page);
  },
  mailTo: async ({ stack }, use) => use((address, text) => mailTo(stack, address, text)),
  mailsTo: async ({ stack }, use) => use((address, text) => mailsTo(stack, address, text)),
  said: [
    async ({ page, alone }, use) => {
      const said: string[] = [];
      // React's development build recommends its tools.
      const isHint = (message: ConsoleMessage) => alone && message.type() === 'info';
      page.on('console', message => isHint(message) || said.push(message.text()));
      await use(said);
      expect(said, 'the console stays silent').toEqual([]);
    },
    { auto: true },
  ],
  uncaught: [
    async ({ page }, use) => {
      const uncaught: string[] = [];
      page.on('pageerror', failure => uncaught.push(String(failure)));
      await use(uncaught);
      expect(uncaught, 'everything is caught').toEqual([]);
    },
    { auto: true },
  ],
});

function runningStack(): Stack {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** An e-mail address that no other test has. */
export function someone(name = 'visitor'): string {
  return `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
}

/** A page is pressed no sooner than its application has started, or has had the time to. */
async function started(page: Page, waitUntil: string | undefined) {
  if (waitUntil !== 'commit') {
    const heading = page.locator('main h1');
    await hydrated(heading, 5_000).catch(() => undefined);
  }
}

/** Waits until React has taken an element over: before that, nothing happens when it is pressed. */
export async function hydrated(element: Locator, timeout = 10_000): Promise<void> {
  const isTakenOver = () =>
    element.evaluate(node => Object.keys(node).some(key => key.startsWith('__react')), null, {
      timeout,
    });
  await expect.poll(isTakenOver, { timeout }).toBe(true);
}

async function mailTo(stack: Stack, address: string, text: string): Promise<Mail> {
  let found: Mail | undefined;
  await expect
    .poll(
      async () => {
        [found] = await mailsTo(stack, address, text);
        return found?.subject;
      },
      { message: `a mail to ${address} with "${text}"`, timeout: 20_000 },
    )
    .toBeTruthy();
  if (!found) {
    throw new Error('There is no such mail');
  }
  return found;
}

async function mailsTo({ inbox }: Stack, address: string, text: string): Promise<Mail[]> {
  const all: Mail[] = await (await fetch(`${inbox.web}/email`)).json();
  return all.filter(
    mail => mail.to.some(to => to.address === address) && JSON.stringify(mail).includes(text),
  );
}

/** Shows a notice, as a remote does. */
export async function tell(
  page: Page,
  title: string,
  kind: 'success' | 'error' | 'overlay' = 'success',
): Promise<void> {
  await page.evaluate(
    detail => {
      window.dispatchEvent(new CustomEvent('site:notice', { detail }));
    },
    { kind, title, text: 'What happened.' },
  );
}

/** Expects that axe finds nothing wrong with what is shown. */
export async function expectAccessible(page: Page, where = 'as it is'): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .analyze();
  const found = violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]);
  expect(found, where).toEqual([]);
}

/** Expects that nothing must be scrolled sideways at a size of the window. */
export async function expectFits(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  const spare = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(spare, `${width} pixels`).toBe(0);
}

function byte(): number {
  return Math.floor(Math.random() * 254) + 1;
}

export { expect };
