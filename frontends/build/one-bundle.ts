import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { NO_REMOTE, oneBundle, server } from './configurations.ts';
import { writePages } from './pages.ts';
import { dist, frontends, scratch } from './places.ts';
import { remotes } from './remotes.ts';

// Builds the site as if there were no remotes, for `measure-federation.ts` to compare.

await Promise.all([dist, scratch].map(folder => rm(folder, { recursive: true, force: true })));
const partsOf = await compile({ shell: oneBundle(remotes), server: server(remotes) });
await cp(join(frontends, 'shell/public'), dist, { recursive: true });
const shell = partsOf('shell');
await writePages({
  shell,
  remotes: remotes.map(({ name }) => ({ name, version: NO_REMOTE, parts: shell })),
});
await compressIn(dist);
