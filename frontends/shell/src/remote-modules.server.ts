import type { PartSource } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';
import type { loadExposed as loadInBrowser } from './remote-modules.ts';

const sources: Readonly<Record<Exposed, PartSource['load']>> = {
  'blog/blog-list': () => import(/* webpackChunkName: "blog-list" */ 'blog/blog-list'),
  'blog/blog-post': () => import(/* webpackChunkName: "blog-post" */ 'blog/blog-post'),
  'blog/blog-author': () => import(/* webpackChunkName: "blog-author" */ 'blog/blog-author'),
  'blog/blog-teasers': () => import(/* webpackChunkName: "blog-teasers" */ 'blog/blog-teasers'),
  'careers/careers-page': () =>
    import(/* webpackChunkName: "careers-page" */ 'careers/careers-page'),
  'careers/position-page': () =>
    import(/* webpackChunkName: "position-page" */ 'careers/position-page'),
  'careers/application-page': () =>
    import(/* webpackChunkName: "application-page" */ 'careers/application-page'),
  'careers/applied': () => import(/* webpackChunkName: "applied" */ 'careers/applied'),
  'careers/not-applied': () => import(/* webpackChunkName: "not-applied" */ 'careers/not-applied'),
};

/** Server-side counterpart of `remote-modules.ts`, and that of one bundle: it imports the remotes' sources. */
export const loadExposed: typeof loadInBrowser = module => sources[module]();
