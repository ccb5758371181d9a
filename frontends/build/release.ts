import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { remote, server } from './configurations.ts';
import type { SiteParts } from './document.ts';
import { writePages } from './pages.ts';
import { dist, partsFile, scratch, split } from './places.ts';
import { versionOf } from './remote.ts';
import { remoteCalled, remotes } from './remotes.ts';

// Releases one remote into a site that is there, and renders the pages that show it: `npm run release -- blog`.
// The shell and the other remotes stay as they are. Files of the remote's former build stay, too: pages
// that are open in a browser may ask for them.

const started = Date.now();
const which = remoteCalled(process.argv[2]);
if (!existsSync(partsFile)) {
  throw new Error(`There is no site in ${dist}: build it whole first, with npm run build`);
}
const former: SiteParts & { files: readonly string[] } = JSON.parse(
  await readFile(partsFile, 'utf8'),
);
// Who serves the front ends one by one splits the site anew.
await Promise.all([scratch, split].map(folder => rm(folder, { recursive: true, force: true })));
const partsOf = await compile({ [which.name]: remote(which), server: server(remotes) });
const parts: SiteParts = {
  shell: former.shell,
  remotes: former.remotes.map(other =>
    other.name === which.name
      ? { ...other, version: versionOf(which), parts: partsOf(which.name) }
      : other,
  ),
};
const { files, written } = await writePages(parts, ({ areas }) =>
  areas.some(area => area.remote === which.name),
);
for (const file of former.files.filter(name => !files.includes(name))) {
  await Promise.all(['', '.br', '.gz'].map(end => rm(join(dist, file + end), { force: true })));
}
await writeFile(partsFile, JSON.stringify({ ...parts, files }));
await compressIn(dist);
console.log(
  `Released ${which.name} with ${written} pages in ${((Date.now() - started) / 1000).toFixed(1)} s`,
);
