import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { chromium } from '@playwright/test';
import { CHROMIUM } from './chromium.ts';
import { root } from './file-paths.ts';
import { runningStack } from './running-stack.ts';
import { NOT_FOUND, SAMPLE_PATHS } from './sample-paths.ts';

// Takes a picture of each route of the running stack in three sizes and both themes, into
// target/screenshots: `npm run screenshots [-- <route> …]`. Whatever the console says is printed. When all are
// taken, the tops of the pages make docs/contact-sheet.jpg.

const SIZES = [
  { name: 'phone', width: 390, height: 844 },
  { name: 'tablet', width: 768, height: 1024 },
  { name: 'desktop', width: 1440, height: 900 },
];

const THEMES = ['light', 'dark'] as const;

const stack = runningStack();
const folder = join(root, 'target/screenshots');
mkdirSync(folder, { recursive: true });
const chosen = process.argv.slice(2);
// Pictures do not hear of a page's reduced motion, only of the whole browser's.
const args = [...(CHROMIUM.args ?? []), '--force-prefers-reduced-motion'];
const browser = await chromium.launch({ ...CHROMIUM, args });
for (const route of chosen.length > 0 ? chosen : [...SAMPLE_PATHS, ...NOT_FOUND]) {
  for (const size of SIZES) {
    await Promise.all(THEMES.map(theme => screenshot(browser, route, size, theme)));
  }
}
if (chosen.length === 0) {
  await contactSheet(browser);
}
await browser.close();

/** The tops of all pages on one sheet, a row for each. */
async function contactSheet(from: Browser) {
  const rows = [...SAMPLE_PATHS, ...NOT_FOUND].map(route => {
    const pictures = SIZES.flatMap(({ name, width }) =>
      THEMES.map(theme => {
        const png = readFileSync(join(folder, fileOf(route, name, theme))).toString('base64');
        return `<div style="width:${Math.round(width / 4)}px"><img src="data:image/png;base64,${png}"></div>`;
      }),
    );
    return `<h2>${route}</h2><section>${pictures.join('')}</section>`;
  });
  const page = await from.newPage({ viewport: { width: 1400, height: 800 } });
  await page.setContent(
    `<!doctype html><style>body{margin:16px;background:#777;font:600 13px sans-serif;color:#fff}
    h2{font:inherit;margin:12px 0 4px}section{display:flex;gap:8px}section>div{height:420px;overflow:hidden;flex:none}
    img{width:100%;display:block}</style>${rows.join('')}`,
  );
  const path = join(root, 'docs/contact-sheet.jpg');
  await page.screenshot({ path, fullPage: true, type: 'jpeg', quality: 80 });
  await page.close();
}

function fileOf(route: string, size: string, theme: string): string {
  return `${route.replaceAll(/[/?=]/g, '_')}-${size}-${theme}.png`;
}

async function screenshot(
  from: Browser,
  route: string,
  { name, width, height }: (typeof SIZES)[number],
  colorScheme: 'light' | 'dark',
) {
  const page = await from.newPage({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
  });
  page.on('console', message => console.log(`${route} ${name}: ${message.text()}`));
  page.on('pageerror', failure => console.log(`${route} ${name}: ${failure}`));
  await page.goto(stack.site + route, { waitUntil: 'networkidle' });
  // Pictures below the first view load when they come near it.
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
      scrollTo(0, y);
      await new Promise(resolve => setTimeout(resolve, 60));
    }
    scrollTo(0, 0);
  });
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, fileOf(route, name, colorScheme)), fullPage: true });
  await page.close();
}
