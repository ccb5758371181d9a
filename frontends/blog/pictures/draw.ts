import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Preview } from '../../build/previews.ts';
import { drawPreviews } from '../../build/previews.ts';
import { readPost } from '../build/post.ts';
import { kiosk } from './kiosk.ts';
import { scenes } from './scenes.ts';

// Draws the articles' pictures anew, and the previews of all articles: `npm run draw -w frontends/blog`.
const folder = join(import.meta.dirname, '../src/pictures');
const posts = join(import.meta.dirname, '../posts');
mkdirSync(folder, { recursive: true });
for (const [id, scene] of Object.entries({ ...scenes, kiosk })) {
  writeFileSync(join(folder, `${id}.svg`), scene().toSvg());
}
await drawPreviews([
  preview('blog', 'Insights, mostly about noticing', 'kiosk'),
  ...readdirSync(posts).map(previewOf),
]);

function previewOf(file: string): Preview {
  const { summary } = readPost(basename(file), readFileSync(join(posts, file), 'utf8'));
  return preview(summary.id, summary.title, summary.id);
}

function preview(name: string, title: string, picture: string): Preview {
  return {
    file: join(folder, `${name}.jpg`),
    title,
    drawing: join(folder, `${picture}.svg`),
  };
}
