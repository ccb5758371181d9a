import { blog } from '../blog/remote.ts';
import { careers } from '../careers/remote.ts';
import type { Remote } from './remote.ts';

/** All remotes of the site. */
export const remotes = [blog, careers] as const satisfies readonly Remote[];

type ExposedBy<Each extends Remote> = Each extends Remote
  ? `${Each['name']}/${Each['exposes'][number]}`
  : never;

/** The modules that remotes expose, as the shell asks for them. */
export type Exposed = ExposedBy<(typeof remotes)[number]>;

/** The remote of that name. */
export function remoteCalled(name: string | undefined): Remote {
  const found = remotes.find(remote => remote.name === name);
  if (!found) {
    throw new Error(`Say which remote: ${remotes.map(remote => remote.name).join(' or ')}`);
  }
  return found;
}
