import { chromium } from '@playwright/test';
import { mappedPages, unmappedPages } from '../kit/testing/built-site.ts';
import type { Row } from './audit.ts';
import { auditedThrice, faultsOf, launchForAudit } from './audit.ts';
import { axeMatrix } from './axe-matrix.ts';
import { CHROMIUM } from './chromium.ts';
import { CHANGES, timeToPage } from './route-change.ts';
import { NOT_FOUND, ROUTES } from './sample-paths.ts';
import { runningStack } from './running-stack.ts';

// Measures the running stack: `cargo xtask measure web`, or in a short form `npm run measure -- /about`.
//
// - Lighthouse (mobile, simulated slow 4G) on each kind of route, timings as the median of three.
// - What a visitor waits for after a click, once pages are fetched ahead; in the long form only.
// - axe on each page and in each dialog, menu and notice, in both themes, on a phone and on a desktop.
//
// Ends with 1 where axe finds something or a budget is exceeded that does not vary with what else the machine does.

/** Milliseconds that a browser is given to fetch pages ahead. */
const AHEAD = 1500;
const { site } = runningStack();
const chosen = process.argv.slice(2);

const rows = await lighthouseRows(chosen.length > 0 ? chosen : ROUTES);
console.table(rows);
if (chosen.length === 0) {
  console.table(await routeChanges());
}
const violations = await axeMatrix(site, chosen.length > 0 ? chosen : everyPage());
const wrong = [...rows.flatMap(faultsOf), ...violations];
for (const fault of wrong) {
  console.error(fault);
}
process.exitCode = wrong.length > 0 ? 1 : 0;

async function lighthouseRows(routes: readonly string[]): Promise<Row[]> {
  const browser = await launchForAudit();
  try {
    const rows: Row[] = [];
    for (const route of routes) {
      rows.push(await auditedThrice(site, route, browser.port, 'performance'));
    }
    return rows;
  } finally {
    browser.kill();
  }
}

/** Every page that was built, whether the site's map names it or not, and those that variants and errors lead to. */
function everyPage(): string[] {
  return [...new Set([...mappedPages(), ...unmappedPages(), ...ROUTES, ...NOT_FOUND])];
}

/** What a visitor waits for after a click, once pages are fetched ahead. */
async function routeChanges() {
  const visitor = await chromium.launch(CHROMIUM);
  const page = await visitor.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(site, { waitUntil: 'networkidle' });
  await page.mouse.move(200, 300);
  await page.waitForTimeout(AHEAD);
  const changes: { 'route change': string; ms: number }[] = [];
  for (const [link, heading] of CHANGES) {
    const ms = Math.round(await timeToPage(page, link, heading));
    changes.push({ 'route change': link, ms });
    await page.waitForTimeout(AHEAD);
  }
  await visitor.close();
  return changes;
}
