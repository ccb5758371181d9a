import type { LazyPart } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import { remotes } from './remotes.ts';

/** What remotes fill areas of the shell's pages with. */
export const remoteParts = Object.fromEntries(
  Object.entries(remotes).map(([name, source]) => [name, lazyPart(source)]),
) as Record<keyof typeof remotes, LazyPart>;
