import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import type { RunningStack } from '../../../kit/testing/running-stack.ts';
import { runningStack } from '../../../kit/testing/running-stack.ts';
import type { Browser, ElementHandle, Engine, Scheme, Tab } from './engine.ts';
import { VISIBLE_TIMEOUT_MS } from './engine.ts';
import type { RecordingProxy } from './recording-proxy.ts';
import { recordingProxyTo } from './recording-proxy.ts';

declare global {
  interface Window {
    TestingLibraryDom: typeof import('@testing-library/dom');
  }
}

const FINDER = readFileSync(
  createRequire(import.meta.url).resolve(
    '@testing-library/dom/dist/@testing-library/dom.umd.min.js',
  ),
  'utf8',
);

const PRESSES = 60;

/** Values that can be passed to and from the page. */
type Plain = string | number | boolean | null;

export interface Visitor {
  tab: Tab;
  proxy: RecordingProxy;
  stack: RunningStack;
  /** Runs in the page, without its closure. */
  evaluate: <Given extends Plain[], Result>(
    script: (...given: Given) => Result,
    ...given: Given
  ) => Promise<Awaited<Result>>;
  /** Waits until the page is hydrated. */
  open: (route: string) => Promise<void>;
  /** Waits for the element. */
  the: (role: string, name: string) => Promise<ElementHandle>;
  isThere: (role: string, name: string) => Promise<boolean>;
  /** Waits for the text. */
  reads: (words: string) => Promise<unknown>;
  tabTo: (role: string, name: string) => Promise<void>;
}

/** One engine for a `describe`, and one visitor for each test. A test fails on any page error. */
export function visitorsOf(engine: Engine, system: Scheme = 'light'): () => Visitor {
  let browser: Browser;
  let visitor: Visitor;
  beforeAll(async () => {
    browser = await engine.start(system);
  });
  afterAll(() => browser.stop());
  beforeEach(async () => {
    const stack = runningStack();
    const proxy = await recordingProxyTo(stack.site);
    const tab = await browser.tab();
    visitor = visitorAt(tab, proxy, stack);
  });
  afterEach(async () => {
    await visitor.tab.close();
    visitor.proxy.close();
    expect(visitor.proxy.errors, 'nothing goes wrong').toEqual([]);
  });
  return () => visitor;
}

function visitorAt(tab: Tab, proxy: RecordingProxy, stack: RunningStack): Visitor {
  const evaluate: Visitor['evaluate'] = async (script, ...given) =>
    (await tab.evaluate(called(script, given))) as never;

  async function find(role: string, name: string): Promise<ElementHandle | undefined> {
    if (!(await evaluate(() => 'TestingLibraryDom' in window))) {
      await tab.evaluate(FINDER);
    }
    return tab.find(called(elementWith, [role, name]));
  }

  async function the(role: string, name: string): Promise<ElementHandle> {
    return vi.waitFor(
      async () => {
        const found = await find(role, name);
        if (!found) {
          throw new Error(`There is no ${role} "${name}"`);
        }
        return found;
      },
      { timeout: VISIBLE_TIMEOUT_MS },
    );
  }

  return {
    tab,
    proxy,
    stack,
    evaluate,
    async open(route) {
      await tab.open(proxy.site + route);
      await expect.poll(() => evaluate(isHydrated)).toBe(true);
    },
    the,
    isThere: async (role, name) => (await find(role, name)) !== undefined,
    reads: words => expect.poll(() => evaluate(textInView)).toContain(words),
    async tabTo(role, name) {
      await the(role, name);
      for (let press = 0; press < PRESSES; press += 1) {
        await tab.press('Tab');
        if (await evaluate(isFocused, role, name)) {
          return;
        }
      }
      throw new Error(`Tab does not lead to ${role} "${name}"`);
    },
  };
}

function called(script: (...given: never[]) => unknown, given: Plain[]): string {
  return `(${script})(${given.map(each => JSON.stringify(each)).join(', ')})`;
}

function elementWith(role: string, name: string): Element | undefined {
  return window.TestingLibraryDom.queryAllByRole(document.body, role, { name })[0];
}

function isFocused(role: string, name: string): boolean {
  const { activeElement } = document;
  const near = activeElement?.parentElement ?? document.body;
  return window.TestingLibraryDom.queryAllByRole(near, role, { name }).some(
    element => element === activeElement,
  );
}

/** React marks hydrated elements. */
function isHydrated(): boolean {
  const heading = document.querySelector('main h1');
  return heading !== null && Object.keys(heading).some(key => key.startsWith('__react'));
}

function textInView(): string {
  // biome-ignore lint/performance/useDomNodeTextContent: nobody reads hidden text
  return document.body.innerText;
}
