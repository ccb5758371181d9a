import { serve } from './dev-server.ts';
import { remotes } from './remotes.ts';
import { remoteConfig, shellConfig } from './rsbuild-config.ts';

// `npm run dev`: the whole site as it is written.

const PORT = 8090;

await serve(
  {
    shell: shellConfig(remotes),
    ...Object.fromEntries(remotes.map(remote => [remote.name, remoteConfig(remote)])),
  },
  PORT,
);
