import { chromium } from '@playwright/test';
import type { Row } from './audit.ts';
import { auditedThrice, faultsOf, launchForAudit } from './audit.ts';
import { CHROMIUM } from './chromium.ts';
import { CHANGES, timeToPage } from './route-change.ts';
import { ROUTES } from './routes.ts';
import { runningStack } from './running-stack.ts';

// Runs Lighthouse (mobile, simulated slow 4G) on each kind of route of the running stack and prints a
// table, timings as the median of three. Ends with 1 where a budget is exceeded that does not depend on
// the machine's mood: `cargo xtask measure web`.

/** Milliseconds that a browser is given to fetch pages ahead. */
const AHEAD = 1500;
const stack = runningStack();
const browser = await launchForAudit();
const chosen = process.argv.slice(2);
const rows: Row[] = [];
for (const route of chosen.length > 0 ? chosen : ROUTES) {
  rows.push(await auditedThrice(stack.site, route, browser.port, 'performance'));
}
browser.kill();
console.table(rows);
console.table(await routeChanges());

const wrong = rows.flatMap(faultsOf);
for (const fault of wrong) {
  console.error(fault);
}
process.exitCode = wrong.length > 0 ? 1 : 0;

/** What a visitor waits for after a click, once pages are fetched ahead. */
async function routeChanges() {
  const visitor = await chromium.launch(CHROMIUM);
  const page = await visitor.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(stack.site, { waitUntil: 'networkidle' });
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
