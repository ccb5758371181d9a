import { join } from 'node:path';
import { compile } from './compile.ts';
import { compressIn } from './compress.ts';
import { remote } from './configurations.ts';
import { addressOf } from './federation.ts';
import { dist } from './places.ts';
import { remoteCalled } from './remotes.ts';

// Builds one remote's own files, as they are served: `npm run build -w frontends/blog`.

const which = remoteCalled(process.argv[2]);
await compile({ [which.name]: remote(which) });
const folder = join(dist, addressOf(which));
await compressIn(folder);
console.log(`Built ${which.name} into ${folder}`);
