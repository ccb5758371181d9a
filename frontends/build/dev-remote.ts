import { serve } from './dev-server.ts';
import { remoteNamed } from './remotes.ts';
import { standaloneConfig } from './rsbuild-config.ts';

// `npm run dev -w frontends/blog`: a remote as it is written, without the shell.

const [name, port] = process.argv.slice(2);
const remote = remoteNamed(name);
await serve({ [remote.name]: standaloneConfig(remote) }, Number(port ?? remote.port));
