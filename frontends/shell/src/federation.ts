import { createInstance } from '@module-federation/runtime';
import * as runtimeCore from '@module-federation/runtime/core';
import { LOAD_TIMEOUT_MS } from '@site/kit/retry.ts';
import * as router from '@site/kit/router.ts';
import React from 'react';
import ReactDOM from 'react-dom';

// The federation's runtime, a chunk of its own: a first view that shows no remote neither loads nor evaluates it.

/** What the shell shares with remotes, by the module that they import. */
const SHARED = { react: React, 'react-dom': ReactDOM, '@site/kit/router.ts': router };

/** Load attempts of each remote entry, by its URL. */
const entryAttempts = new Map<string, number>();

// Remotes bring no runtime of their own: they look for the shell's here (`externalRuntime` in `build/federation.ts`).
Object.assign(globalThis, { _FEDERATION_RUNTIME_CORE: runtimeCore });

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
      // An entry has as long as all other files, and is asked for again at another address: see `build/chunk-timeout.ts`.
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

/** Loads a module of a remote: `blog/blog-list`. */
export function loadRemote<Module>(module: string): Promise<Module | null> {
  return federation.loadRemote<Module>(module);
}
