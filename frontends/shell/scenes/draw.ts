import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shop, VIEW_BOX } from './shop.ts';

// Draws all scenes anew: `npm run draw`.
const folder = join(import.meta.dirname, '../src/scenes');
writeFileSync(join(folder, 'shop.svg'), shop().toSvg(VIEW_BOX));
