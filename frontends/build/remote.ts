import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brandFile, frontends, root } from './file-paths.ts';

/** A front end that the shell loads at run time. */
export interface Remote {
  /** Folder in `frontends`, and name in URLs and imports. */
  name: string;
  /** Files of its `src` whose default export is a component. */
  exposes: readonly string[];
  port: number;
}

/** Version of a remote. Equal sources have equal versions. */
export function buildHashOf(remote: Remote): string {
  return hashOf([remote.name, 'kit', 'build']).slice(0, 12);
}

/** Hash of the sources in these folders of `frontends`, the brand file and the lock file. */
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

/** Files that no build reads. */
const NOT_BUILT = /\/(node_modules|tests|testing)\/|\.test\.tsx?$|README\.md$/;

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => !NOT_BUILT.test(file.slice(frontends.length)))
    .sort();
}
