import type { Configuration } from '@rspack/core';
import { alone } from './configurations.ts';
import { served } from './dev-server.ts';
import { remoteCalled } from './remotes.ts';

// `npm run dev -w frontends/blog`: a remote as it is written, without the shell.

/** The development server of the remote that `--env remote=…` names. */
export default function configuration({ remote }: { remote?: string }): Configuration {
  const which = remoteCalled(remote);
  return served(alone('development', which), which.port);
}
