import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import type { BuildManifest } from './document.ts';
import { dist, manifestFile, scratch, split } from './file-paths.ts';
import { prerenderPages } from './prerender.ts';
import { buildHashOf } from './remote.ts';
import { remoteNamed, remotes } from './remotes.ts';
import { remoteConfig, serverConfig } from './rsbuild-config.ts';

// Releases one remote into an existing site, and renders the pages that show it: `npm run release -- blog`.
// Files of the remote's former build stay, because open pages may still request them.

const started = Date.now();
const remote = remoteNamed(process.argv[2]);
if (!existsSync(manifestFile)) {
  throw new Error(`There is no site in ${dist}: build it whole first, with npm run build`);
}
const former: BuildManifest & { files: readonly string[] } = JSON.parse(
  await readFile(manifestFile, 'utf8'),
);
// The split site is stale now. `npm run split` writes it again.
await Promise.all([scratch, split].map(folder => rm(folder, { recursive: true, force: true })));
const chunkFilesOf = await compile({
  [remote.name]: remoteConfig(remote),
  server: serverConfig(remotes),
});
const manifest: BuildManifest = {
  shell: former.shell,
  remotes: former.remotes.map(other =>
    other.name === remote.name
      ? { ...other, version: buildHashOf(remote), chunks: chunkFilesOf(remote.name) }
      : other,
  ),
};
const { files, written } = await prerenderPages(manifest, ({ remoteModuleUses }) =>
  remoteModuleUses.some(use => use.remote === remote.name),
);
for (const file of former.files.filter(name => !files.includes(name))) {
  await Promise.all(['', '.br', '.gz'].map(end => rm(join(dist, file + end), { force: true })));
}
await writeFile(manifestFile, JSON.stringify({ ...manifest, files }));
await compressIn(dist, started);
console.log(
  `Released ${remote.name} with ${written} pages in ${((Date.now() - started) / 1000).toFixed(1)} s`,
);
