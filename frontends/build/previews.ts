import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from '@playwright/test';
import { chromium } from '@playwright/test';
import { declared } from '../kit/drawing/tokens.ts';
import { CHROMIUM } from './chromium.ts';
import { frontends, root } from './file-paths.ts';

/** Preview picture of a page (https://ogp.me). It must not contain the brand, which may change. */
export interface Preview {
  file: string;
  title: string;
  /** Path of an SVG drawing. */
  drawing: string;
}

const SIZE = { width: 1200, height: 630 };
const mark = readFileSync(join(frontends, 'shell/public/favicon.svg'), 'utf8');
const font = readFileSync(
  join(root, 'node_modules/@fontsource-variable/geist/files/geist-latin-wght-normal.woff2'),
).toString('base64');
const style = `
  :root { ${declared('light')}; color-scheme: light }
  @font-face { font-family: Geist; src: url(data:font/woff2;base64,${font}); font-weight: 100 900 }
  body { box-sizing: border-box; height: 630px; display: grid; grid-template-columns: 540px 1fr; align-items: center;
    gap: 8px; margin: 0; padding: 0 12px 0 56px; background: var(--paper); color: var(--ink); font-family: Geist }
  .mark svg { width: 56px; margin-bottom: 32px }
  h1 { margin: 0; font-size: 60px; line-height: 1.02; letter-spacing: -0.04em; font-weight: 620; text-wrap: balance }
  h1[data-long] { font-size: 48px }
  div + svg { width: 100%; height: auto }`;

export async function drawPreviews(previews: readonly Preview[]): Promise<void> {
  const browser = await chromium.launch(CHROMIUM);
  for (const preview of previews) {
    await draw(browser, preview);
  }
  await browser.close();
}

async function draw(browser: Browser, { file, title, drawing }: Preview) {
  const page = await browser.newPage({ viewport: SIZE, reducedMotion: 'reduce' });
  const size = title.length > 36 ? ' data-long' : '';
  await page.setContent(
    `<!doctype html><style>${style}</style>` +
      `<div><div class="mark">${mark}</div><h1${size}>${title}</h1></div>${readFileSync(drawing, 'utf8')}`,
  );
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: file, type: 'jpeg', quality: 84 });
  await page.close();
}
