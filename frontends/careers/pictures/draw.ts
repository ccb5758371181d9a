import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawPreviews } from '../../build/previews.ts';
import { workshop } from './workshop.ts';

// Draws the workshop anew, and the page's preview: `npm run draw -w frontends/careers`.

const folder = join(import.meta.dirname, '../src/pictures');
const drawing = join(folder, 'workshop.svg');
writeFileSync(drawing, workshop().toSvg());
await drawPreviews([
  { file: join(folder, 'careers.jpg'), title: 'Teach machines to notice', drawing },
]);
