import { blog } from '../blog/remote.ts';
import { careers } from '../careers/remote.ts';
import type { Remote } from './remote.ts';

/** All remotes of the site. */
export const remotes: readonly Remote[] = [blog, careers];
