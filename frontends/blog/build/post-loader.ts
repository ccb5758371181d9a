import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoaderContext } from '@rspack/core';
import { splitAtPictures } from './article-html.ts';
import { readPost } from './post.ts';

/** Folder of the pictures, relative to an article. */
const PICTURES = '../src/pictures';

/**
 * Turns an article into a module, with a summary and a function that loads the text. The text (`?text`) has a
 * separate chunk, so a list of articles does not load it.
 */
export default function postLoader(this: LoaderContext, source: string): string {
  const file = basename(this.resourcePath);
  const { summary, image, html, headings } = readPost(file, source);
  if (this.resourceQuery === '?text') {
    const parts = splitAtPictures(html);
    const pictures = parts.filter((_, at) => at % 2 === 1);
    const imports = pictures.map(
      (name, at) => `import picture${at} from ${JSON.stringify(pictureOf(this, name))};`,
    );
    const words = parts.map((part, at) =>
      at % 2 === 1 ? `picture${(at - 1) / 2}` : JSON.stringify(part),
    );
    return `${imports.join('')} export const html = ${words.join(' + ')}; export const headings = ${JSON.stringify(headings)};`;
  }
  const picture = pictureOf(this, image);
  const preview = `${PICTURES}/${summary.id}.jpg`;
  const hasPreview = existsSync(join(dirname(this.resourcePath), preview));
  return [
    `import picture from ${JSON.stringify(picture)};`,
    hasPreview ? `import preview from ${JSON.stringify(preview)};` : 'const preview = undefined;',
    `export const summary = { ...${JSON.stringify(summary)}, picture, preview };`,
    `export const load = () => import(/* webpackChunkName: "post-${summary.id}" */ ${JSON.stringify(`./${file}?text`)});`,
  ].join('\n');
}

function pictureOf(loader: LoaderContext, name: string): string {
  const picture = `${PICTURES}/${name}`;
  const drawn = join(dirname(loader.resourcePath), picture);
  if (!existsSync(drawn)) {
    loader.addMissingDependency(drawn);
    throw new Error(
      `${basename(loader.resourcePath)} names an image that is not there: frontends/blog/src/pictures/${name}`,
    );
  }
  return picture;
}
