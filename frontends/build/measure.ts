import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from 'chrome-launcher';
import type { Result } from 'lighthouse';
import lighthouse from 'lighthouse';
import { CHROMIUM } from './chromium.ts';
import { root } from './places.ts';
import { ROUTES } from './routes.ts';

// Runs Lighthouse (mobile, simulated slow 4G) on each kind of route of the running stack and prints a
// table, timings as the median of three. Ends with 1 where a budget is exceeded that does not depend on
// the machine's mood: `cargo xtask measure web`.

const RUNS = 3;
const KILOBYTE = 1000;
/** For the first view of `/`. */
const FIRST_VIEW = { script: 120, total: 250 };
const LARGEST_SHIFT = 0.01;

interface Row {
  route: string;
  performance: number;
  accessibility: number;
  'best practices': number;
  SEO: number;
  'LCP ms': number;
  'TBT ms': number;
  CLS: number;
  'JS kB': number;
  'all kB': number;
  requests: number;
}

const stack = JSON.parse(
  process.env['STACK_FILE'] ? read(process.env['STACK_FILE']) : read('target/stack.json'),
);
const browser = await launch({
  chromePath: CHROMIUM.executablePath ?? '',
  chromeFlags: ['--headless=new', ...(CHROMIUM.args ?? [])],
});
const chosen = process.argv.slice(2);
const rows: Row[] = [];
for (const route of chosen.length > 0 ? chosen : ROUTES) {
  rows.push(await measured(route));
}
browser.kill();
console.table(rows);

const wrong = rows.flatMap(faultsOf);
for (const fault of wrong) {
  console.error(fault);
}
process.exitCode = wrong.length > 0 ? 1 : 0;

async function measured(route: string): Promise<Row> {
  const runs: Row[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const result = await lighthouse(stack.site + route, {
      port: browser.port,
      onlyCategories: ['performance', 'accessibility', 'best-practices', 'seo'],
      logLevel: 'error',
    });
    if (!result) {
      throw new Error(`Lighthouse says nothing of ${route}`);
    }
    runs.push(rowOf(route, result.lhr));
  }
  runs.sort((a, b) => a.performance - b.performance);
  const median = runs[Math.floor(RUNS / 2)];
  if (!median) {
    throw new Error('Nothing was measured');
  }
  return median;
}

function rowOf(route: string, { categories, audits }: Result): Row {
  const score = (name: string) => Math.round((categories[name]?.score ?? 0) * 100);
  const value = (name: string) => audits[name]?.numericValue ?? Number.NaN;
  const requests = itemsOf(audits['network-requests']?.details);
  const bytes = (of: typeof requests) =>
    Math.round(of.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0) / KILOBYTE);
  return {
    route,
    performance: score('performance'),
    accessibility: score('accessibility'),
    'best practices': score('best-practices'),
    SEO: score('seo'),
    'LCP ms': Math.round(value('largest-contentful-paint')),
    'TBT ms': Math.round(value('total-blocking-time')),
    CLS: Number(value('cumulative-layout-shift').toFixed(3)),
    'JS kB': bytes(requests.filter(({ resourceType }) => resourceType === 'Script')),
    'all kB': bytes(requests),
    requests: requests.length,
  };
}

function itemsOf(details: unknown): { transferSize?: number; resourceType?: string }[] {
  const isTable = typeof details === 'object' && details !== null && 'items' in details;
  return isTable && Array.isArray(details.items) ? details.items : [];
}

function faultsOf(row: Row): string[] {
  const faults = (['accessibility', 'best practices', 'SEO'] as const)
    .filter(name => row[name] < 100)
    .map(name => `${row.route}: ${name} is ${row[name]}, not 100`);
  if (row.CLS > LARGEST_SHIFT) {
    faults.push(`${row.route}: the layout shifts by ${row.CLS}`);
  }
  if (row.route === '/' && row['JS kB'] > FIRST_VIEW.script) {
    faults.push(`/: ${row['JS kB']} kB of JavaScript, allowed are ${FIRST_VIEW.script}`);
  }
  if (row.route === '/' && row['all kB'] > FIRST_VIEW.total) {
    faults.push(`/: ${row['all kB']} kB in all, allowed are ${FIRST_VIEW.total}`);
  }
  return faults;
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
