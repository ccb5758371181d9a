import type { PartModule } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';

/** The one place where the shell loads its remotes. Its server-side counterpart, `remote-modules.server.ts`, checks the types. */
export async function loadExposed(module: Exposed): Promise<PartModule | null> {
  const { loadRemote } = await import(/* webpackChunkName: "federation" */ './federation.ts');
  const loaded = await loadRemote<PartModule>(module);
  // One whose evaluation failed is handed out half evaluated when it is asked for again: its constants are missing.
  return loaded?.version === undefined ? null : loaded;
}
