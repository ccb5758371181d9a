import { loadRemote } from '@module-federation/enhanced/runtime';
import type { Exposed } from '../../build/remotes.ts';
import type { RemoteModule, RemoteSource } from './remote-load.ts';

/** What each exposed module holds. */
interface Modules extends Record<Exposed, RemoteModule> {
  'blog/blog-list': typeof import('blog/blog-list');
  'blog/blog-post': typeof import('blog/blog-post');
  'blog/blog-teasers': typeof import('blog/blog-teasers');
  'careers/careers-page': typeof import('careers/careers-page');
}

function source<Name extends Exposed>(module: Name) {
  return () => loadRemote<Modules[Name]>(module);
}

/**
 * The one place where the shell meets its remotes. `remotes.server.ts` is its twin for rendering the
 * pages ahead of time.
 */
export const remotes = {
  blogList: {
    name: 'blog',
    load: source('blog/blog-list'),
  },
  blogPost: {
    name: 'blog',
    load: source('blog/blog-post'),
  },
  blogTeasers: {
    name: 'blog',
    load: source('blog/blog-teasers'),
  },
  careersPage: {
    name: 'careers',
    load: source('careers/careers-page'),
  },
} satisfies Record<string, RemoteSource>;
