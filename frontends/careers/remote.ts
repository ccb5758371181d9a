import type { Remote } from '../build/remote.ts';

export const careers = {
  name: 'careers',
  exposes: ['careers-page', 'position-page', 'application-page', 'applied', 'not-applied'],
  port: 8092,
} as const satisfies Remote;
