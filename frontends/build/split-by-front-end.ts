import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicPathOf } from './federation.ts';
import { dist, split } from './file-paths.ts';
import { remotes } from './remotes.ts';
import type { ServerRoutes } from './routes-file.ts';
import { ROUTES_FILE } from './routes-file.ts';

// Splits the built site into a folder per front end, each for a server of its own: `npm run split`.

/** Routing table of a remote's folder. It is empty, because all pages are in the shell's folder. */
const NO_PAGES: ServerRoutes = {
  redirects: [],
  notFound: [],
  variants: [],
  gone: [],
  scriptHashes: [],
  styleHashes: [],
  trustedTypePolicies: [],
  frameSources: [],
};

await rm(split, { recursive: true, force: true });
for (const entry of await readdir(dist)) {
  if (entry !== 'remotes') {
    await copy(entry, 'shell');
  }
}
for (const remote of remotes) {
  await copy(publicPathOf(remote), remote.name);
  await writeFile(join(split, remote.name, ROUTES_FILE), JSON.stringify(NO_PAGES));
}
console.log(`Split the site into ${split}`);

function copy(path: string, frontEnd: string) {
  return cp(join(dist, path), join(split, frontEnd, path), { recursive: true });
}
