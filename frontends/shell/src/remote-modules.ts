import type { PartModule } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';

/** The only place where the shell loads remotes. `remote-modules.server.ts` checks the modules' types. */
export async function loadExposed(module: Exposed): Promise<PartModule | null> {
  const { loadRemote } = await import(/* webpackChunkName: "federation" */ './federation.ts');
  const loaded = await loadRemote<PartModule>(module);
  // After a failed evaluation, the next load returns the half-evaluated module, without its constants.
  return loaded?.version === undefined ? null : loaded;
}
