import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoaderContext } from '@rspack/core';
import { readPost } from './post.ts';

/** Where the pictures are, seen from an article. */
const PICTURES = '../src/pictures';

/**
 * Makes a module of an article. Imported as it is, the module holds the summary and a way to load the
 * rest, which is a chunk of its own: a list of articles does not bring their texts.
 */
export default function postLoader(this: LoaderContext, source: string): string {
  const file = basename(this.resourcePath);
  const { summary, image, html, headings } = readPost(file, source);
  if (this.resourceQuery === '?text') {
    return `export const html = ${JSON.stringify(html)}; export const headings = ${JSON.stringify(headings)};`;
  }
  const picture = `${PICTURES}/${image}`;
  const drawn = join(dirname(this.resourcePath), picture);
  if (!existsSync(drawn)) {
    this.addMissingDependency(drawn);
    throw new Error(
      `${file} names an image that is not there: frontends/blog/src/pictures/${image}`,
    );
  }
  const preview = `${PICTURES}/${summary.id}.jpg`;
  const hasPreview = existsSync(join(dirname(this.resourcePath), preview));
  return [
    `import picture from ${JSON.stringify(picture)};`,
    hasPreview ? `import preview from ${JSON.stringify(preview)};` : 'const preview = undefined;',
    `export const summary = { ...${JSON.stringify(summary)}, picture, preview };`,
    `export const load = () => import(/* webpackChunkName: "post-${summary.id}" */ ${JSON.stringify(`./${file}?text`)});`,
  ].join('\n');
}
