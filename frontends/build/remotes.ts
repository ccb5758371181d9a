import { blog } from '../blog/remote.ts';
import { careers } from '../careers/remote.ts';
import type { Remote } from './remote.ts';

export const remotes = [blog, careers] as const satisfies readonly Remote[];

export function remoteNamed(name: string | undefined): Remote {
  const found = remotes.find(remote => remote.name === name);
  if (!found) {
    throw new Error(`Say which remote: ${remotes.map(remote => remote.name).join(' or ')}`);
  }
  return found;
}
