import type { LazyPart } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';
import type { RemoteModuleUse } from '../../build/rendered.ts';
import { loadExposed } from './remote-modules.ts';

/** `use` tells the build which remote module the page shows. */
export function remotePart(exposed: Exposed, priority: RemoteModuleUse['priority']) {
  const [remote, module] = exposed.split('/') as [LazyPart['frontEnd'], string];
  const part = lazyPart({ frontEnd: remote, load: () => loadExposed(exposed) });
  return { part, use: { remote, module, priority } };
}
