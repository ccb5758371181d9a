import type { Remote } from './remote.ts';
import type { remotes } from './remotes.ts';

type ExposedBy<Each extends Remote> = Each extends Remote
  ? `${Each['name']}/${Each['exposes'][number]}`
  : never;

/** The modules that remotes expose, as the shell asks for them. */
export type Exposed = ExposedBy<(typeof remotes)[number]>;
