import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Preview } from '../../build/previews.ts';
import { drawPreviews } from '../../build/previews.ts';
import { readPost } from '../build/post.ts';
import { slugOf } from '../src/author-slug.ts';
import { kiosk } from './kiosk.ts';
import { pixels } from './pixels.ts';
import { scenes } from './scenes.ts';

// `npm run draw -w frontends/blog` draws the pictures and previews of all articles.
const folder = join(import.meta.dirname, '../src/pictures');
const posts = join(import.meta.dirname, '../posts');
mkdirSync(folder, { recursive: true });
for (const [id, scene] of Object.entries({ ...scenes, kiosk })) {
  writeFileSync(join(folder, `${id}.svg`), scene().toSvg('legible'));
}
writeFileSync(join(folder, 'pixels.svg'), pixels());
const articles = readdirSync(posts).map(file =>
  readPost(basename(file), readFileSync(join(posts, file), 'utf8')),
);
const authors = new Set(articles.map(({ summary }) => summary.author));
mkdirSync(join(folder, 'authors'), { recursive: true });
await drawPreviews([
  preview('blog', 'Insights, mostly about noticing', 'kiosk'),
  preview(
    'category-technology',
    'Technology: what is solid, young, or an adjective',
    'ai-advancements',
  ),
  preview('category-trends', 'Trends: what comes, and what stays away', 'future-trends'),
  preview('category-case-studies', 'Case Studies: what happened at a real site', 'case-study'),
  ...Array.from(authors, role =>
    preview(`authors/${slugOf(role)}`, `Articles by the ${role}`, 'kiosk'),
  ),
  ...articles.map(({ summary: { id, title } }) => preview(id, title, id)),
]);

function preview(name: string, title: string, picture: string): Preview {
  return {
    file: join(folder, `${name}.jpg`),
    title,
    drawing: join(folder, `${picture}.svg`),
  };
}
