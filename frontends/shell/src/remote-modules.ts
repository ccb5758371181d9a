import type { PartModule, PartSource } from '@site/kit/lazy-part.ts';
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

function source<Name extends Exposed>(module: Name) {
  return async () => {
    const { loadRemote } = await import(/* webpackChunkName: "federation" */ './federation.ts');
    return loadRemote<Modules[Name]>(module);
  };
}

/**
 * The one place where the shell meets its remotes. `remote-modules.server.ts` is its server-side counterpart.
 */
export const remoteModules = {
  blogList: {
    frontEnd: 'blog',
    load: source('blog/blog-list'),
  },
  blogPost: {
    frontEnd: 'blog',
    load: source('blog/blog-post'),
  },
  blogAuthor: {
    frontEnd: 'blog',
    load: source('blog/blog-author'),
  },
  blogTeasers: {
    frontEnd: 'blog',
    load: source('blog/blog-teasers'),
  },
  careersPage: {
    frontEnd: 'careers',
    load: source('careers/careers-page'),
  },
  positionPage: {
    frontEnd: 'careers',
    load: source('careers/position-page'),
  },
  applicationPage: {
    frontEnd: 'careers',
    load: source('careers/application-page'),
  },
  applied: {
    frontEnd: 'careers',
    load: source('careers/applied'),
  },
  notApplied: {
    frontEnd: 'careers',
    load: source('careers/not-applied'),
  },
} satisfies Record<string, PartSource>;
