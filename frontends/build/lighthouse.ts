import type { LaunchedChrome } from 'chrome-launcher';
import { launch } from 'chrome-launcher';
import type { Result } from 'lighthouse';
import lighthouse from 'lighthouse';
import { excessOf, kilobytes } from './budgets.ts';
import { CHROMIUM } from './chromium.ts';

const LARGEST_SHIFT = 0.01;

/** Lighthouse result of a route, on a phone with a slow connection. */
export interface LighthouseRow {
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

/** Starts Chrome for Lighthouse. */
export function launchChrome(): Promise<LaunchedChrome> {
  return launch({
    chromePath: CHROMIUM.executablePath ?? '',
    chromeFlags: ['--headless=new', ...(CHROMIUM.args ?? [])],
  });
}

/** Runs Lighthouse in the Chrome that listens on a port. */
export async function runLighthouse(
  site: string,
  route: string,
  port: number,
): Promise<LighthouseRow> {
  const result = await lighthouse(site + route, {
    port,
    onlyCategories: ['performance', 'accessibility', 'best-practices', 'seo'],
    logLevel: 'error',
  });
  if (!result) {
    throw new Error(`Lighthouse says nothing of ${route}`);
  }
  return rowOf(route, result.lhr);
}

/** The median of three runs, because timings vary. */
export async function medianLighthouseRun(
  site: string,
  route: string,
  port: number,
  by: 'performance' | 'LCP ms',
): Promise<LighthouseRow> {
  const first = await runLighthouse(site, route, port);
  const runs = [
    first,
    await runLighthouse(site, route, port),
    await runLighthouse(site, route, port),
  ];
  return runs.sort((a, b) => a[by] - b[by])[1] ?? first;
}

function rowOf(route: string, { categories, audits }: Result): LighthouseRow {
  const score = (name: string) => Math.round((categories[name]?.score ?? 0) * 100);
  const value = (name: string) => audits[name]?.numericValue ?? Number.NaN;
  const requests = itemsOf(audits['network-requests']?.details);
  const bytes = (of: typeof requests) =>
    kilobytes(of.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0));
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

/** Budgets that a route exceeds, of those that do not vary with what else the machine does. */
export function exceededBudgets(row: LighthouseRow): string[] {
  const faults = (['accessibility', 'best practices', 'SEO'] as const)
    .filter(name => row[name] < 100)
    .map(name => `${row.route}: ${name} is ${row[name]}, not 100`);
  if (row.CLS > LARGEST_SHIFT) {
    faults.push(`${row.route}: the layout shifts by ${row.CLS}`);
  }
  return [...faults, ...excessOf(row.route, { scriptKb: row['JS kB'], totalKb: row['all kB'] })];
}
