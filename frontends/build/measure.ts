import { chromium } from '@playwright/test';
import { sitemapPages, unlistedPages } from '../kit/testing/built-site.ts';
import { axeMatrix } from './axe-matrix.ts';
import { CHROMIUM } from './chromium.ts';
import type { LighthouseRow } from './lighthouse.ts';
import { exceededBudgets, launchChrome, medianLighthouseRun } from './lighthouse.ts';
import { CHANGES, timeToPage } from './route-change.ts';
import { runningStack } from './running-stack.ts';
import { NOT_FOUND, SAMPLE_PATHS } from './sample-paths.ts';

// Measures the running stack: `cargo xtask measure web`, or in a short form `npm run measure -- /about`.
//
// - Lighthouse (mobile, simulated slow 4G) on each kind of route, timings as the median of three.
// - What a visitor waits for after a click, once pages are prefetched; in the long form only.
// - axe on each page and in each dialog, menu and toast, in both themes, on a phone and on a desktop.
//
// Ends with 1 where axe finds something or a budget is exceeded that does not vary with what else the machine does.

/** Time that a browser is given to prefetch pages. */
const PREFETCH_WAIT_MS = 1500;
const { site } = runningStack();
const chosen = process.argv.slice(2);

const rows = await lighthouseRows(chosen.length > 0 ? chosen : SAMPLE_PATHS);
console.table(rows);
if (chosen.length === 0) {
  console.table(await routeChanges());
}
const violations = await axeMatrix(site, chosen.length > 0 ? chosen : everyPage());
const wrong = [...rows.flatMap(exceededBudgets), ...violations];
for (const fault of wrong) {
  console.error(fault);
}
process.exitCode = wrong.length > 0 ? 1 : 0;

async function lighthouseRows(routes: readonly string[]): Promise<LighthouseRow[]> {
  const browser = await launchChrome();
  try {
    const rows: LighthouseRow[] = [];
    for (const route of routes) {
      rows.push(await medianLighthouseRun(site, route, browser.port, 'performance'));
    }
    return rows;
  } finally {
    browser.kill();
  }
}

/** Every page that was built, whether the sitemap lists it or not, and those that variants and errors lead to. */
function everyPage(): string[] {
  return [...new Set([...sitemapPages(), ...unlistedPages(), ...SAMPLE_PATHS, ...NOT_FOUND])];
}

/** Latency of route changes, once pages are prefetched. */
async function routeChanges() {
  const visitor = await chromium.launch(CHROMIUM);
  const page = await visitor.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(site, { waitUntil: 'networkidle' });
  await page.mouse.move(200, 300);
  await page.waitForTimeout(PREFETCH_WAIT_MS);
  const changes: { 'route change': string; ms: number }[] = [];
  for (const [link, heading] of CHANGES) {
    const ms = Math.round(await timeToPage(page, link, heading));
    changes.push({ 'route change': link, ms });
    await page.waitForTimeout(PREFETCH_WAIT_MS);
  }
  await visitor.close();
  return changes;
}
