import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { remoteEntryUrl } from './federation.ts';
import { dist, frontends, manifestFile, scratch, split } from './file-paths.ts';
import { prerenderPages } from './prerender.ts';
import { buildHashOf } from './remote.ts';
import { remotes } from './remotes.ts';
import { remoteConfig, serverConfig, shellConfig } from './rsbuild-config.ts';

// Builds the whole site: `npm run build`.

const started = Date.now();
await Promise.all(
  [dist, scratch, split].map(folder => rm(folder, { recursive: true, force: true })),
);
const chunkFilesOf = await compile({
  shell: shellConfig(remotes),
  ...Object.fromEntries(remotes.map(remote => [remote.name, remoteConfig(remote)])),
  server: serverConfig(remotes),
});
await cp(join(frontends, 'shell/public'), dist, { recursive: true });
const manifest = {
  shell: chunkFilesOf('shell'),
  remotes: remotes.map(remote => ({
    name: remote.name,
    entry: remoteEntryUrl(remote),
    version: buildHashOf(remote),
    chunks: chunkFilesOf(remote.name),
  })),
};
const { files, written } = await prerenderPages(manifest);
await writeFile(manifestFile, JSON.stringify({ ...manifest, files }));
await compressIn(dist);
console.log(`Built ${written} pages in ${((Date.now() - started) / 1000).toFixed(1)} s`);
