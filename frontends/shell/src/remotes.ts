import { loadRemote } from '@module-federation/enhanced/runtime';
import type { RemoteSource } from './remote-load.ts';

/**
 * The one place where the shell meets its remotes. `remotes.server.ts` is its twin for rendering the
 * pages ahead of time.
 */
export const remotes = {
  blogList: {
    name: 'blog',
    load: () => loadRemote<typeof import('blog/blog-list')>('blog/blog-list'),
  },
  blogPost: {
    name: 'blog',
    load: () => loadRemote<typeof import('blog/blog-post')>('blog/blog-post'),
  },
  blogTeasers: {
    name: 'blog',
    load: () => loadRemote<typeof import('blog/blog-teasers')>('blog/blog-teasers'),
  },
  careersPage: {
    name: 'careers',
    load: () => loadRemote<typeof import('careers/careers-page')>('careers/careers-page'),
  },
} satisfies Record<string, RemoteSource>;
