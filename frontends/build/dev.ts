import type { Configuration } from '@rspack/core';
import { remote, shell } from './configurations.ts';
import { served } from './dev-server.ts';
import { remotes } from './remotes.ts';

// `npm run dev`: the whole site as it is written.

const PORT = 8090;

const configurations: Configuration[] = [
  served(shell('development', remotes), PORT),
  ...remotes.map(which => remote('development', which)),
];
export default configurations;
