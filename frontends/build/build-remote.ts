import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { publicPathOf } from './federation.ts';
import { dist } from './file-paths.ts';
import { remoteNamed } from './remotes.ts';
import { remoteConfig } from './rsbuild-config.ts';

// Builds the files of one remote: `npm run build -w frontends/blog`.

const remote = remoteNamed(process.argv[2]);
await compile({ [remote.name]: remoteConfig(remote) });
const folder = join(dist, publicPathOf(remote));
await compressIn(folder);
console.log(`Built ${remote.name} into ${folder}`);
