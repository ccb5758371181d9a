import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, CDPSession } from 'puppeteer-core';
import puppeteer from 'puppeteer-core';
import { CHROMIUM } from './chromium.ts';
import type { TraceEvent } from './main-thread.ts';
import { TRACE_CATEGORIES } from './main-thread.ts';

// A first view that nothing looks into. Tools that drive pages (Playwright, Lighthouse) bring scripts of their own, which
// run on the page's main thread, and have V8 find the line of every function that runs when an error is made: on a phone
// a tenth of a second each, which visitors do not wait for. So here the browser is told by its protocol to record and to go
// somewhere, and is asked for nothing but whether the page is ready.

/** A phone is so many times slower than this machine, as Lighthouse takes it. */
const CPU_THROTTLING = 4;
/** Of a Pixel 7. */
const SCREEN = { width: 412, height: 839, deviceScaleFactor: 2.625, mobile: true };
/** From the heading's hydration until all that the first view needs has run. */
const SETTLING_MS = 2000;
const POLL_MS = 500;
const DEADLINE_MS = 30_000;

/** Starts a browser for such visits. */
export function launchUnwatched(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: CHROMIUM.executablePath ?? '',
    args: CHROMIUM.args ?? [],
    headless: 'shell',
  });
}

/** Records the first view of a page, by a visitor on a phone who has never been there. */
export async function recordVisit(browser: Browser, address: string): Promise<TraceEvent[]> {
  const context = await browser.createBrowserContext();
  try {
    const session = await blankPage(browser, context.id);
    await session.send('Emulation.setDeviceMetricsOverride', SCREEN);
    await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_THROTTLING });
    const trace: TraceEvent[] = [];
    session.on('Tracing.dataCollected', ({ value }) => trace.push(...(value as TraceEvent[])));
    await session.send('Tracing.start', {
      traceConfig: { includedCategories: TRACE_CATEGORIES, excludedCategories: ['*'] },
    });
    await session.send('Page.navigate', { url: address });
    await untilHydrated(session, address);
    await sleep(SETTLING_MS);
    const complete = new Promise(resolve => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await complete;
    return trace;
  } finally {
    await context.close();
  }
}

/** Session of an empty page that has none of Puppeteer's scripts: it brings them when it is asked for the page. */
async function blankPage(browser: Browser, browserContextId: string | undefined) {
  const control = await browser.target().createCDPSession();
  const before = new Set(browser.targets());
  await control.send('Target.createTarget', {
    url: 'about:blank',
    ...(browserContextId ? { browserContextId } : {}),
  });
  const target = await browser.waitForTarget(each => each.type() === 'page' && !before.has(each));
  await control.detach();
  return target.createCDPSession();
}

/** React marks the elements that it has taken over. */
export function isHydrated(): boolean {
  const heading = document.querySelector('main h1');
  return heading !== null && Object.keys(heading).some(key => key.startsWith('__react'));
}

/** On a busy machine the application may start late, and would be left out. */
async function untilHydrated(session: CDPSession, address: string) {
  const deadline = performance.now() + DEADLINE_MS;
  while (performance.now() < deadline) {
    await sleep(POLL_MS);
    const { result } = await session.send('Runtime.evaluate', { expression: `(${isHydrated})()` });
    if (result.value === true) {
      return;
    }
  }
  throw new Error(`${address} was not hydrated within ${DEADLINE_MS} ms`);
}
