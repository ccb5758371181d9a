import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { chromium, devices } from '@playwright/test';
import { gateway } from '../kit/testing/gateway.ts';
import { kilobytes } from './budgets.ts';
import { CHROMIUM } from './chromium.ts';
import { dist, root } from './file-paths.ts';
import type { MainThreadWork } from './main-thread.ts';
import { mainThreadWork, TRACE_CATEGORIES } from './main-thread.ts';
import { buildPlainPages } from './plain-pages.ts';
import { SAMPLE_PATHS } from './sample-paths.ts';

// What a phone's main thread does for the first view of each kind of page, beside a plain React page of the same HTML,
// in turns of one run: `cargo xtask measure first-view`, or `npm run measure:first-view -- /about` for one route. It fails
// where a page does not work, not where it is slow: that varies with what else the machine does.

const TURNS = 5;
/** A phone is so many times slower than this machine, as Lighthouse takes it. */
const CPU_THROTTLING = 4;
/** From the heading's hydration until all that the first view needs has run. */
const SETTLING_MS = 2000;
const RESULTS = join(root, 'target/first-view.json');

/** What one page cost. */
interface Visit {
  wall: MainThreadWork;
  cpu: MainThreadWork;
  scriptBytes: number;
  bytes: number;
}

const chosen = process.argv.slice(2);
const routes = chosen.length > 0 ? chosen : SAMPLE_PATHS;
const plain = join(root, 'target/plain-pages');
await buildPlainPages(routes, plain);
const sites = { ours: await gateway(dist), plain: await gateway(plain) };
const browser = await chromium.launch(CHROMIUM);
const visits = routes.map(route => ({ route, ours: [] as Visit[], plain: [] as Visit[] }));
try {
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { route, ...seen } of visits) {
      seen.ours.push(await visit(browser, sites.ours.site + route));
      seen.plain.push(await visit(browser, sites.plain.site + route));
    }
  }
} finally {
  await browser.close();
  sites.ours.stop();
  sites.plain.stop();
}

const medians = visits.map(({ route, ours, plain }) => ({
  route,
  ours: medianOf(ours),
  plain: medianOf(plain),
}));
console.table(medians.map(rowOf));
await writeFile(RESULTS, JSON.stringify({ medians, visits }, undefined, 2));
console.log(`Every visit: ${RESULTS}`);
/** Opens a page as a visitor on a phone who has never been there. */
async function visit(browser: Browser, address: string): Promise<Visit> {
  const context = await browser.newContext(devices['Pixel 7']);
  const page = await context.newPage();
  const faults = faultsOf(page);
  const bytes = countBytes(page);
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_THROTTLING });
  await browser.startTracing(page, { categories: TRACE_CATEGORIES });
  await page.goto(address);
  // On a busy machine the application may start late, and would be left out.
  await page.waitForFunction(isHydrated);
  await page.waitForTimeout(SETTLING_MS);
  const trace = await browser.stopTracing();
  await context.close();
  if (faults.length > 0) {
    throw new Error(`${address} does not work: ${faults.join('; ')}`);
  }
  const { traceEvents } = JSON.parse(trace.toString());
  return {
    wall: mainThreadWork(traceEvents, 'dur'),
    cpu: mainThreadWork(traceEvents, 'tdur'),
    ...bytes,
  };
}

/** React marks the elements that it has taken over. */
function isHydrated(): boolean {
  const heading = document.querySelector('main h1');
  return heading !== null && Object.keys(heading).some(key => key.startsWith('__react'));
}

/** A page that is broken is no page to compare with. */
function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', message => {
    if (message.type() === 'error') {
      faults.push(message.text());
    }
  });
  return faults;
}

function countBytes(page: Page) {
  const count = { scriptBytes: 0, bytes: 0 };
  page.on('requestfinished', async request => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    const size = responseBodySize + responseHeadersSize;
    count.bytes += size;
    count.scriptBytes += request.resourceType() === 'script' ? size : 0;
  });
  return count;
}

/** Medians of each figure by itself. */
function medianOf(visits: readonly Visit[]): Visit {
  const median = (figure: (visit: Visit) => number) =>
    visits.map(figure).sort((a, b) => a - b)[Math.floor(visits.length / 2)] ?? 0;
  const work = (by: 'wall' | 'cpu'): MainThreadWork => ({
    longestTask: median(visit => visit[by].longestTask),
    blocking: median(visit => visit[by].blocking),
    script: median(visit => visit[by].script),
  });
  return {
    wall: work('wall'),
    cpu: work('cpu'),
    scriptBytes: median(visit => visit.scriptBytes),
    bytes: median(visit => visit.bytes),
  };
}

function rowOf({ route, ours, plain }: (typeof medians)[number]) {
  const ratio = Math.round((100 * ours.cpu.script) / plain.cpu.script) / 100;
  return {
    route,
    'longest task ms': beside(ours.wall.longestTask, plain.wall.longestTask),
    'of it CPU': beside(ours.cpu.longestTask, plain.cpu.longestTask),
    'TBT ms': beside(ours.wall.blocking, plain.wall.blocking),
    'of it CPU ': beside(ours.cpu.blocking, plain.cpu.blocking),
    'script CPU ms': beside(ours.cpu.script, plain.cpu.script),
    ratio,
    'JS kB': beside(kilobytes(ours.scriptBytes), kilobytes(plain.scriptBytes)),
    'all kB': beside(kilobytes(ours.bytes), kilobytes(plain.bytes)),
  };
}

/** Our figure and the plain page's. */
function beside(ours: number, plain: number): string {
  return `${Math.round(ours)} (${Math.round(plain)})`;
}
