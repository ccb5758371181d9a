import type { Remote } from './remote.ts';
import type { remotes } from './remotes.ts';

type ExposedBy<Each extends Remote> = Each extends Remote
  ? `${Each['name']}/${Each['exposes'][number]}`
  : never;

/** Exposed modules of all remotes, such as `blog/blog-list`. */
export type Exposed = ExposedBy<(typeof remotes)[number]>;
