import { loadRemote, registerPlugins } from '@module-federation/enhanced/runtime';
import type { PartModule, PartSource } from '@site/kit/lazy-part.ts';
import { SLOW } from '@site/kit/retry.ts';
import type { Exposed } from '../../build/exposed.ts';

/** What each exposed module holds. */
interface Modules extends Record<Exposed, Required<PartModule>> {
  'blog/blog-list': typeof import('blog/blog-list');
  'blog/blog-post': typeof import('blog/blog-post');
  'blog/blog-teasers': typeof import('blog/blog-teasers');
  'careers/careers-page': typeof import('careers/careers-page');
  'careers/application-page': typeof import('careers/application-page');
  'careers/applied': typeof import('careers/applied');
  'careers/not-applied': typeof import('careers/not-applied');
}

/** How often each entry was asked for. */
const asked = new Map<string, number>();

// An entry has as long as all other files, and is asked for again at another address: see `build/chunk-timeout.ts`.
registerPlugins([
  {
    name: 'entries that hang',
    createScript({ url }) {
      const before = asked.get(url) ?? 0;
      asked.set(url, before + 1);
      const src = before ? `${url}?${before}` : url;
      const script = document.createElement('script');
      return { script: Object.assign(script, { src, fetchPriority: 'high' }), timeout: SLOW };
    },
  },
]);

function source<Name extends Exposed>(module: Name) {
  return () => loadRemote<Modules[Name]>(module);
}

/**
 * The one place where the shell meets its remotes. `remotes.server.ts` is its twin for rendering the
 * pages ahead of time.
 */
export const remotes = {
  blogList: {
    frontEnd: 'blog',
    load: source('blog/blog-list'),
  },
  blogPost: {
    frontEnd: 'blog',
    load: source('blog/blog-post'),
  },
  blogTeasers: {
    frontEnd: 'blog',
    load: source('blog/blog-teasers'),
  },
  careersPage: {
    frontEnd: 'careers',
    load: source('careers/careers-page'),
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
