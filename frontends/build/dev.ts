import { remote, shell } from './configurations.ts';
import { serve } from './dev-server.ts';
import { remotes } from './remotes.ts';

// `npm run dev`: the whole site as it is written.

const PORT = 8090;

await serve(
  {
    shell: shell(remotes),
    ...Object.fromEntries(remotes.map(which => [which.name, remote(which)])),
  },
  PORT,
);
