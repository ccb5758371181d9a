import type { LazyPart } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { remoteModules } from './remote-modules.ts';

/** What remotes fill areas of the shell's pages with. */
export const remoteParts = Object.fromEntries(
  Object.entries(remoteModules).map(([name, source]) => [name, lazyPart(source)]),
) as Record<keyof typeof remoteModules, LazyPart>;
