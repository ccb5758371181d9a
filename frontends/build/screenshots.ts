import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { chromium } from '@playwright/test';
import { CHROMIUM } from './chromium.ts';
import { root } from './places.ts';
import { ROUTES } from './routes.ts';

// Takes a picture of each route of the running stack in three sizes and both themes, into
// target/screenshots: `npm run screenshots [-- <route> …]`. Whatever the console says is printed.

const NOT_FOUND = ['/no-such-page', '/blog/no-such-post', '/services/no-such-service'];
const SIZES = [
  { name: 'phone', width: 390, height: 844 },
  { name: 'tablet', width: 768, height: 1024 },
  { name: 'desktop', width: 1440, height: 900 },
];

const stack = JSON.parse(readFileSync(join(root, 'target/stack.json'), 'utf8'));
const folder = join(root, 'target/screenshots');
mkdirSync(folder, { recursive: true });
const chosen = process.argv.slice(2);
// Pictures do not hear of a page's reduced motion, only of the whole browser's.
const args = [...(CHROMIUM.args ?? []), '--force-prefers-reduced-motion'];
const browser = await chromium.launch({ ...CHROMIUM, args });
for (const route of chosen.length > 0 ? chosen : [...ROUTES, ...NOT_FOUND]) {
  for (const size of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await picture(browser, route, size, colorScheme);
    }
  }
}
await browser.close();

async function picture(
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
  const file = `${route.replaceAll('/', '_')}-${name}-${colorScheme}.png`;
  await page.screenshot({ path: join(folder, file), fullPage: true });
  await page.close();
}
