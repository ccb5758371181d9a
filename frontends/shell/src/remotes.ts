import { loadRemote } from '@module-federation/enhanced/runtime';
import type { Exposed } from '../../build/remotes.ts';
import type { RemoteSource } from './remote-load.ts';

/** Loads a module that a remote says it exposes. */
const fromRemote: <Module>(module: Exposed) => Promise<Module | null> = loadRemote;

/**
 * The one place where the shell meets its remotes. `remotes.server.ts` is its twin for rendering the
 * pages ahead of time.
 */
export const remotes = {
  blogList: {
    name: 'blog',
    load: () => fromRemote<typeof import('blog/blog-list')>('blog/blog-list'),
  },
  blogPost: {
    name: 'blog',
    load: () => fromRemote<typeof import('blog/blog-post')>('blog/blog-post'),
  },
  blogTeasers: {
    name: 'blog',
    load: () => fromRemote<typeof import('blog/blog-teasers')>('blog/blog-teasers'),
  },
  careersPage: {
    name: 'careers',
    load: () => fromRemote<typeof import('careers/careers-page')>('careers/careers-page'),
  },
} satisfies Record<string, RemoteSource>;
