import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { remote, server, shell } from './configurations.ts';
import { entryOf } from './federation.ts';
import { writePages } from './pages.ts';
import { dist, frontends, partsFile, scratch, split } from './places.ts';
import { versionOf } from './remote.ts';
import { remotes } from './remotes.ts';

// Builds the whole site: `npm run build`.

const started = Date.now();
await Promise.all(
  [dist, scratch, split].map(folder => rm(folder, { recursive: true, force: true })),
);
const partsOf = await compile({
  shell: shell(remotes),
  ...Object.fromEntries(remotes.map(which => [which.name, remote(which)])),
  server: server(remotes),
});
await cp(join(frontends, 'shell/public'), dist, { recursive: true });
const parts = {
  shell: partsOf('shell'),
  remotes: remotes.map(which => ({
    name: which.name,
    entry: entryOf(which),
    version: versionOf(which),
    parts: partsOf(which.name),
  })),
};
const { files, written } = await writePages(parts);
await writeFile(partsFile, JSON.stringify({ ...parts, files }));
await compressIn(dist);
console.log(`Built ${written} pages in ${((Date.now() - started) / 1000).toFixed(1)} s`);
