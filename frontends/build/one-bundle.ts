import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { dist, frontends, scratch } from './file-paths.ts';
import { prerenderPages } from './prerender.ts';
import { remotes } from './remotes.ts';
import { NO_REMOTE, oneBundleConfig, serverConfig } from './rsbuild-config.ts';

// Builds the site as if there were no remotes, for `measure-federation.ts` to compare.

await Promise.all([dist, scratch].map(folder => rm(folder, { recursive: true, force: true })));
const chunkFilesOf = await compile({
  shell: oneBundleConfig(remotes),
  server: serverConfig(remotes),
});
await cp(join(frontends, 'shell/public'), dist, { recursive: true });
const shell = chunkFilesOf('shell');
await prerenderPages({
  shell,
  remotes: remotes.map(({ name }) => ({ name, version: NO_REMOTE, chunks: shell })),
});
await compressIn(dist);
