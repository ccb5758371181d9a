import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenes } from './scenes.ts';

// Draws the articles' pictures anew: `npm run draw -w frontends/blog`.
const folder = join(import.meta.dirname, '../src/pictures');
mkdirSync(folder, { recursive: true });
for (const [id, scene] of Object.entries(scenes)) {
  writeFileSync(join(folder, `${id}.svg`), scene().toSvg());
}
