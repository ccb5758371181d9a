import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { chromium } from '@playwright/test';
import { runningStack } from '../kit/testing/running-stack.ts';
import { NOT_FOUND, SAMPLE_PATHS } from '../kit/testing/sample-paths.ts';
import { CHROMIUM } from './chromium.ts';
import { root } from './file-paths.ts';

// Takes screenshots of the running stack in three sizes and both themes, into target/screenshots:
// `npm run screenshots [-- <route> …]`. Without a route it takes one page of each type, and writes
// docs/contact-sheet.jpg.

const SIZES = {
  phone: { width: 390, height: 844 },
  tablet: { width: 768, height: 1024 },
  desktop: { width: 1440, height: 900 },
};
const SHOTS = Object.entries(SIZES).flatMap(([name, viewport]) =>
  (['light', 'dark'] as const).map(colorScheme => ({ name, viewport, colorScheme })),
);
const folder = join(root, 'target/screenshots');

mkdirSync(folder, { recursive: true });
const chosen = process.argv.slice(2);
const routes = chosen.length > 0 ? chosen : [...SAMPLE_PATHS, ...NOT_FOUND];
// An SVG image follows the browser's setting for reduced motion, not the one emulated for the page.
const args = [...(CHROMIUM.args ?? []), '--force-prefers-reduced-motion'];
const browser = await chromium.launch({ ...CHROMIUM, args });
for (const route of routes) {
  await Promise.all(SHOTS.map(shot => screenshot(browser, route, shot)));
}
if (chosen.length === 0) {
  await contactSheet(await browser.newPage({ viewport: { width: 1400, height: 800 } }));
}
await browser.close();

async function screenshot(from: Browser, route: string, shot: (typeof SHOTS)[number]) {
  const page = await from.newPage({ ...shot, reducedMotion: 'reduce' });
  await page.goto(runningStack().site + route, { waitUntil: 'networkidle' });
  // Pictures load only near the viewport.
  for (const picture of await page.locator('main img').all()) {
    await picture.scrollIntoViewIfNeeded();
  }
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: fileOf(route, shot), fullPage: true });
  await page.close();
}

function fileOf(route: string, { name, colorScheme }: (typeof SHOTS)[number]): string {
  return join(folder, `${route.replaceAll(/[/?=]/g, '_')}-${name}-${colorScheme}.png`);
}

async function contactSheet(page: Page) {
  const rows = routes.map(route => {
    const pictures = SHOTS.map(shot => {
      const png = readFileSync(fileOf(route, shot)).toString('base64');
      return `<div style="width:${Math.round(shot.viewport.width / 4)}px"><img src="data:image/png;base64,${png}"></div>`;
    });
    return `<h2>${route}</h2><section>${pictures.join('')}</section>`;
  });
  await page.setContent(
    `<!doctype html><style>body{margin:16px;background:#777;font:600 13px sans-serif;color:#fff}
    h2{font:inherit;margin:12px 0 4px}section{display:flex;gap:8px}section>div{height:420px;overflow:hidden;flex:none}
    img{width:100%;display:block}</style>${rows.join('')}`,
  );
  const path = join(root, 'docs/contact-sheet.jpg');
  await page.screenshot({ path, fullPage: true, type: 'jpeg', quality: 80 });
}
