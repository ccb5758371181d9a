import { basename } from 'node:path';
import type { LoaderContext } from '@rspack/core';
import { readPost } from './post.ts';

/**
 * Makes a module of an article. Imported as it is, the module holds the summary and a way to load the
 * rest, which is a chunk of its own: a list of articles does not bring their texts.
 */
export default function postLoader(this: LoaderContext, source: string): string {
  const file = basename(this.resourcePath);
  const { summary, html, headings } = readPost(file, source);
  if (this.resourceQuery === '?text') {
    return `export const html = ${JSON.stringify(html)}; export const headings = ${JSON.stringify(headings)};`;
  }
  return [
    `export const summary = ${JSON.stringify(summary)};`,
    `export const load = () => import(/* webpackChunkName: "post-${summary.id}" */ ${JSON.stringify(`./${file}?text`)});`,
  ].join('\n');
}
