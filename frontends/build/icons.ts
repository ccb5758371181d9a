import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { CHROMIUM } from './chromium.ts';
import { frontends } from './file-paths.ts';

// Draws the PNG icons from the favicon: `npm run draw`.

const folder = join(frontends, 'shell/public');
const mark = readFileSync(join(folder, 'favicon.svg'), 'utf8');

const browser = await chromium.launch(CHROMIUM);
for (const size of [180, 192, 512]) {
  const name = size === 180 ? 'apple-touch-icon' : `icon-${size}`;
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(
    `<!doctype html><style>body{margin:0}svg{display:block;width:100vw}</style>${mark}`,
  );
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}
await browser.close();
