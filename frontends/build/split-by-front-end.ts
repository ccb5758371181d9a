import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicPathOf } from './federation.ts';
import { dist, split } from './file-paths.ts';
import { remotes } from './remotes.ts';
import type { ServerRoutes } from './routes-file.ts';
import { ROUTES_FILE } from './routes-file.ts';

// Lays the built site out as a folder for each front end, as a server of its own serves it: `npm run split`.

/** The pages come with the shell; what is loaded of a remote is found by its file alone. */
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
