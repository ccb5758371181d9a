import { loadRemote, registerPlugins } from '@module-federation/enhanced/runtime';
import type { PartModule, PartSource } from '@site/kit/lazy-part.ts';
import { LOAD_TIMEOUT_MS } from '@site/kit/retry.ts';
import type { Exposed } from '../../build/exposed.ts';

/** Types of the exposed modules. */
interface Modules extends Record<Exposed, Required<PartModule>> {
  'blog/blog-list': typeof import('blog/blog-list');
  'blog/blog-post': typeof import('blog/blog-post');
  'blog/blog-teasers': typeof import('blog/blog-teasers');
  'careers/careers-page': typeof import('careers/careers-page');
  'careers/application-page': typeof import('careers/application-page');
  'careers/applied': typeof import('careers/applied');
  'careers/not-applied': typeof import('careers/not-applied');
}

/** Load attempts of each remote entry, by its URL. */
const entryAttempts = new Map<string, number>();

// An entry has as long as all other files, and is asked for again at another address: see `build/chunk-timeout.ts`.
registerPlugins([
  {
    name: 'remote-entry-timeout',
    createScript({ url }) {
      const before = entryAttempts.get(url) ?? 0;
      entryAttempts.set(url, before + 1);
      const src = before ? `${url}?${before}` : url;
      const script = document.createElement('script');
      return {
        script: Object.assign(script, { src, fetchPriority: 'high' }),
        timeout: LOAD_TIMEOUT_MS,
      };
    },
  },
]);

function source<Name extends Exposed>(module: Name) {
  return () => loadRemote<Modules[Name]>(module);
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
