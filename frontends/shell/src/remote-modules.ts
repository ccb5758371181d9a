import type { PartModule } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';

/** Types of the exposed modules. */
interface Modules extends Record<Exposed, Required<PartModule>> {
  'blog/blog-list': typeof import('blog/blog-list');
  'blog/blog-post': typeof import('blog/blog-post');
  'blog/blog-author': typeof import('blog/blog-author');
  'blog/blog-teasers': typeof import('blog/blog-teasers');
  'careers/careers-page': typeof import('careers/careers-page');
  'careers/position-page': typeof import('careers/position-page');
  'careers/application-page': typeof import('careers/application-page');
  'careers/applied': typeof import('careers/applied');
  'careers/not-applied': typeof import('careers/not-applied');
}

/** The one place where the shell meets its remotes. `remote-modules.server.ts` is its server-side counterpart. */
export async function loadExposed(module: Exposed): Promise<PartModule | null> {
  const { loadRemote } = await import(/* webpackChunkName: "federation" */ './federation.ts');
  const loaded = await loadRemote<Modules[Exposed]>(module);
  // One whose evaluation failed is handed out half evaluated when it is asked for again: its constants are missing.
  return loaded?.version === undefined ? null : loaded;
}
