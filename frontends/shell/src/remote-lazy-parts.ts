import type { LazyPart } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { remoteModules } from './remote-modules.ts';

/** Lazy parts of the remotes, for areas of the shell's pages. */
export const remoteParts = Object.fromEntries(
  Object.entries(remoteModules).map(([name, source]) => [name, lazyPart(source)]),
) as Record<keyof typeof remoteModules, LazyPart>;
