import type { PartModule } from '@site/kit/lazy-part.ts';
import type { Exposed } from '../../build/exposed.ts';
import type { loadExposed as loadInBrowser } from './remote-modules.ts';

const sources: Readonly<Record<Exposed, () => Promise<Required<PartModule>>>> = {
  'blog/blog-list': () => import('blog/blog-list'),
  'blog/blog-post': () => import('blog/blog-post'),
  'blog/blog-author': () => import('blog/blog-author'),
  'blog/blog-teasers': () => import('blog/blog-teasers'),
  'careers/careers-page': () => import('careers/careers-page'),
  'careers/position-page': () => import('careers/position-page'),
  'careers/application-page': () => import('careers/application-page'),
  'careers/applied': () => import('careers/applied'),
  'careers/not-applied': () => import('careers/not-applied'),
};

/** For the server build: imports the remotes' sources. */
export const loadExposed: typeof loadInBrowser = module => sources[module]();
