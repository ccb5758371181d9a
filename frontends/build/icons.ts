import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { brand } from '../kit/src/brand.ts';
import { CHROMIUM } from './chromium.ts';
import { frontends, root } from './places.ts';

// Draws the pictures that must be pixels, after a change of the brand or the favicon: the icons, and
// what previews of the site show. `npm run draw`.

const folder = join(frontends, 'shell/public');
const mark = readFileSync(join(folder, 'favicon.svg'), 'utf8');
const font = readFileSync(
  join(root, 'node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'),
).toString('base64');
const scene = readFileSync(join(frontends, 'shell/src/scenes/shop.svg'), 'utf8');
const tokens = readFileSync(join(frontends, 'kit/src/tokens.css'), 'utf8');

const browser = await chromium.launch(CHROMIUM);
for (const size of [180, 192, 512]) {
  const name = size === 180 ? 'apple-touch-icon' : `icon-${size}`;
  await picture(name, size, size, `<style>svg{display:block;width:100vw}</style>${mark}`);
}
await picture(
  'preview',
  1200,
  630,
  `<style>
    ${tokens.slice(tokens.indexOf(':root {'), tokens.indexOf('.dark {'))}
    @font-face { font-family: Geist; src: url(data:font/woff2;base64,${font}); font-weight: 100 900 }
    body { box-sizing: border-box; height: 630px; display: grid; grid-template-columns: 560px 1fr; align-items: center;
      gap: 24px; padding: 0 56px; background: var(--paper); color: var(--ink); font-family: Geist }
    .name { display: flex; gap: 14px; align-items: center; font-size: 30px; font-weight: 640; margin-bottom: 36px }
    .name svg { width: 44px } div + svg { width: 620px; height: auto } h1 { margin: 0; font-size: 62px; line-height: 1.02; letter-spacing: -0.04em; font-weight: 620 }
  </style>
  <div><div class="name">${mark}${brand.name}</div><h1>${brand.tagline}</h1></div>
  ${scene}`,
);
await browser.close();

async function picture(name: string, width: number, height: number, content: string) {
  const page = await browser.newPage({ viewport: { width, height }, reducedMotion: 'reduce' });
  await page.setContent(`<!doctype html><style>body{margin:0}</style>${content}`);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}
