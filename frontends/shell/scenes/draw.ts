import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Point } from './isometric.ts';
import { shop, VIEW_BOX } from './shop.ts';

// Draws all scenes anew: `npm run draw`.
const PEOPLE: readonly Point[] = [
  [2.95, 3.2],
  [8.1, 6.7],
  [3, 7.6],
  [5.7, 3],
];
const folder = join(import.meta.dirname, '../src/scenes');
writeFileSync(join(folder, 'shop.svg'), shop({ people: PEOPLE }).toSvg(VIEW_BOX));
