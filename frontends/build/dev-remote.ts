import { standalone } from './configurations.ts';
import { serve } from './dev-server.ts';
import { remoteCalled } from './remotes.ts';

// `npm run dev -w frontends/blog`: a remote as it is written, without the shell.

const [name, port] = process.argv.slice(2);
const which = remoteCalled(name);
await serve({ [which.name]: standalone(which) }, Number(port ?? which.port));
