import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import type { Result } from 'lighthouse';
import lighthouse from 'lighthouse';
import { CHROMIUM } from '../../../build/chromium.ts';
import { root } from '../../../build/file-paths.ts';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';
import { freePort } from '../../../kit/testing/server-process.ts';

// With Lighthouse's defaults: a phone with a slow connection. Timings vary with the machine's load, so they
// are only printed.

const REPORTS = join(root, 'target/lighthouse');
const LARGEST_SHIFT = 0.01;

for (const route of SAMPLE_PATHS) {
  test(`Lighthouse finds nothing to improve on ${route}`, async ({ stack }) => {
    const port = await freePort();
    const browser = await chromium.launch({
      ...CHROMIUM,
      args: [...(CHROMIUM.args ?? []), `--remote-debugging-port=${port}`],
    });
    const result = await lighthouse(stack.site + route, { port, output: 'html' });
    await browser.close();
    if (!result) {
      throw new Error(`Lighthouse has no result for ${route}`);
    }
    mkdirSync(REPORTS, { recursive: true });
    writeFileSync(join(REPORTS, `${route.replaceAll(/\W/g, '_')}.html`), String(result.report));
    console.log(timingsOf(route, result.lhr));
    const { categories, audits } = result.lhr;
    const scores = ['accessibility', 'best-practices', 'seo'].map(name => [
      name,
      categories[name]?.score,
    ]);
    expect(Object.fromEntries(scores)).toEqual({ accessibility: 1, 'best-practices': 1, seo: 1 });
    expect(audits['cumulative-layout-shift']?.numericValue).toBeLessThanOrEqual(LARGEST_SHIFT);
  });
}

function timingsOf(route: string, { categories, audits }: Result): string {
  const ms = (audit: string) => Math.round(audits[audit]?.numericValue ?? Number.NaN);
  const performance = Math.round(100 * (categories['performance']?.score ?? 0));
  return `${route}: performance ${performance}, LCP ${ms('largest-contentful-paint')} ms, TBT ${ms('total-blocking-time')} ms, ${ms('total-byte-weight')} bytes`;
}
