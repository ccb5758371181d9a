import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser as WatchedBrowser } from '@playwright/test';
import { chromium, devices } from '@playwright/test';
import type { Browser } from 'puppeteer-core';
import { gateway } from '../kit/testing/gateway.ts';
import { kilobytes } from './budgets.ts';
import { CHROMIUM } from './chromium.ts';
import { dist, root } from './file-paths.ts';
import type { MainThreadWork } from './main-thread.ts';
import { mainThreadWork } from './main-thread.ts';
import { buildPlainPages } from './plain-pages.ts';
import { SAMPLE_PATHS } from './sample-paths.ts';
import type { Transfer } from './transfer.ts';
import { transferOf } from './transfer.ts';
import { isHydrated, launchUnwatched, recordVisit } from './unwatched-visit.ts';

// What a phone's main thread does for the first view of each kind of page, beside a plain React page of the same HTML,
// in turns of one run: `cargo xtask measure first-view`, or `npm run measure:first-view -- /about` for one route, in more turns. It
// fails where a page does not work, not where it is slow: that varies with what else the machine does.

/** Turns of a run of all routes; its medians vary by a fifth from run to run. */
const TURNS_OF_ALL = 5;
/** Turns where routes are chosen. */
const TURNS_OF_CHOSEN = 15;
const RESULTS = join(root, 'target/first-view.json');

/** What one page cost. */
interface Visit extends Transfer {
  wall: MainThreadWork;
  cpu: MainThreadWork;
}

const chosen = process.argv.slice(2);
const [routes, turns] =
  chosen.length > 0 ? [chosen, TURNS_OF_CHOSEN] : [SAMPLE_PATHS, TURNS_OF_ALL];
const plain = join(root, 'target/plain-pages');
await buildPlainPages(routes, plain);
const sites = { ours: await gateway(dist), plain: await gateway(plain) };
const addresses = Object.values(sites).flatMap(({ site }) => routes.map(route => site + route));
const visits = routes.map(route => ({ route, ours: [] as Visit[], plain: [] as Visit[] }));
const browser = await launchUnwatched();
try {
  await assertWorking(addresses);
  for (let turn = 0; turn < turns; turn += 1) {
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

/** A page that is broken is no page to compare with. Watched, as the visits that are measured are not. */
async function assertWorking(addresses: readonly string[]) {
  const browser = await chromium.launch(CHROMIUM);
  try {
    for (const address of addresses) {
      const faults = await faultsOf(browser, address);
      if (faults.length > 0) {
        throw new Error(`${address} does not work: ${faults.join('; ')}`);
      }
    }
  } finally {
    await browser.close();
  }
}

async function faultsOf(browser: WatchedBrowser, address: string): Promise<string[]> {
  const page = await browser.newPage(devices['Pixel 7']);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', message => {
    if (message.type() === 'error') {
      faults.push(message.text());
    }
  });
  await page.goto(address);
  await page.waitForFunction(isHydrated);
  await page.waitForLoadState('networkidle');
  await page.close();
  return faults;
}

async function visit(browser: Browser, address: string): Promise<Visit> {
  const trace = await recordVisit(browser, address);
  return {
    wall: mainThreadWork(trace, 'dur'),
    cpu: mainThreadWork(trace, 'tdur'),
    ...transferOf(trace),
  };
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
