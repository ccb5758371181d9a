import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brandFile, frontends, root } from './file-paths.ts';

/** A front end that the shell loads while it runs. */
export interface Remote {
  /** Its folder here, and its name in addresses and imports. */
  name: string;
  /** The modules it offers: files of its `src`, each with a component as its default. */
  exposes: readonly string[];
  /** Port of its own development server. */
  port: number;
}

/** Hash of a remote's inputs, its version: two builds of the same have the same. */
export function buildHashOf(remote: Remote): string {
  return hashOf([remote.name, 'kit', 'build']).slice(0, 12);
}

/** Hash of the sources in these folders of `frontends`, with what every build reads. */
export function hashOf(folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders) {
    for (const file of filesIn(join(frontends, folder))) {
      hash.update(file.slice(frontends.length)).update(readFileSync(file));
    }
  }
  for (const file of [brandFile, join(root, 'package-lock.json')]) {
    hash.update(readFileSync(file));
  }
  return hash.digest('hex');
}

/** Files of a front end's folder that are left out of its hash. */
const NOT_BUILT = /\/(node_modules|tests|testing)\/|\.test\.tsx?$|README\.md$/;

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => !NOT_BUILT.test(file.slice(frontends.length)))
    .sort();
}
