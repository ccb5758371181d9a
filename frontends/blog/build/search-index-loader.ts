import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoaderContext } from '@rspack/core';
import { parse } from 'yaml';
import { searchIndexOf } from './search-index.ts';

/** Loader of `search-index.yaml`, the list of ignored words. Adds the index of all articles. */
export default function searchIndexLoader(this: LoaderContext, source: string): string {
  const folder = join(this.context ?? '', '../posts');
  this.addContextDependency(folder);
  const names = readdirSync(folder).filter(name => name.endsWith('.md'));
  const files = names.map(name => ({ name, source: readFileSync(join(folder, name), 'utf8') }));
  const leftOut: string[] = parse(source);
  const index = searchIndexOf(files, leftOut);
  return `export const leftOut = ${JSON.stringify(leftOut)}; export const index = ${JSON.stringify(index)};`;
}
