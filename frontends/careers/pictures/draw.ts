import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawPreviews } from '../../build/previews.ts';
import { positions } from '../src/positions.ts';
import { workshop } from './workshop.ts';

// `npm run draw -w frontends/careers` draws the workshop and the pages' previews.

const folder = join(import.meta.dirname, '../src/pictures');
const drawing = join(folder, 'workshop.svg');
writeFileSync(drawing, workshop().toSvg());
mkdirSync(join(folder, 'positions'), { recursive: true });
await drawPreviews([
  { file: join(folder, 'careers.jpg'), title: 'Teach machines to notice', drawing },
  { file: join(folder, 'apply.jpg'), title: 'Apply for an internship', drawing },
  ...positions.map(({ slug, title }) => ({
    file: join(folder, `positions/${slug}.jpg`),
    title,
    drawing,
  })),
]);
