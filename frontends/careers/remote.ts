import type { Remote } from '../build/remote.ts';

/** What careers offers to the shell. */
export const careers: Remote = {
  name: 'careers',
  exposes: ['careers-page'],
  port: 8092,
};
