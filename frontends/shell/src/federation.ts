import { createInstance, registerGlobalPlugins } from '@module-federation/runtime';
import * as runtimeCore from '@module-federation/runtime/core';
import { LOAD_TIMEOUT_MS } from '@site/kit/retry.ts';
import * as router from '@site/kit/router.ts';
import React from 'react';
import ReactDOM from 'react-dom';

// This module is a chunk of its own, so a first view without remotes does not load it.

const SHARED = { react: React, 'react-dom': ReactDOM, '@site/kit/router.ts': router };

const entryAttempts = new Map<string, number>();

// Remotes use this runtime (`externalRuntime` in `build/federation.ts`).
Object.assign(globalThis, { _FEDERATION_RUNTIME_CORE: runtimeCore });

registerGlobalPlugins([
  {
    // Skips the version check for ranges that the build has checked, because the first check takes 15 ms on a
    // phone. A remote of another release may have other ranges.
    name: 'ranges-known-to-the-build',
    resolveShare(args) {
      const { pkgName, version, scope, shareScopeMap, shareInfo } = args;
      const module = pkgName as keyof typeof SHARED_VERSIONS;
      const shared = shareScopeMap[scope]?.[pkgName]?.[version];
      const range = shareInfo.shareConfig?.requiredVersion;
      const isKnown =
        version === SHARED_VERSIONS[module] &&
        SATISFIED_RANGES[module].some(each => each === range);
      return shared && isKnown
        ? { ...args, resolver: () => ({ shared, useTreesShaking: false }) }
        : args;
    },
  },
]);

const federation = createInstance({
  name: 'shell',
  remotes: [...REMOTE_ENTRIES],
  shared: Object.fromEntries(
    Object.entries(SHARED).map(([module, lib]) => [
      module,
      {
        version: SHARED_VERSIONS[module as keyof typeof SHARED],
        lib: () => lib,
        shareConfig: { singleton: true, requiredVersion: false },
      },
    ]),
  ),
  shareStrategy: 'loaded-first',
  plugins: [
    {
      // A retry uses another URL: see `build/chunk-timeout.ts`.
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
  ],
});

/** `module` is a path such as `blog/blog-list`. */
export function loadRemote<Module>(module: string): Promise<Module | null> {
  return federation.loadRemote<Module>(module);
}
