import { isGone, loadPageAgain, retryCode } from '@site/kit/load-code.ts';
import type { ComponentType } from 'react';
import { lazy } from 'react';
import type { RemoteFailure } from './remote-failure.ts';
import { reportFailure } from './remote-failure.ts';

/** What a remote's module holds. */
export interface RemoteModule {
  default: ComponentType;
  /** Which build of the remote it is from. */
  version: string;
}

/** Where a part of the shell that a remote fills comes from. */
export interface RemoteSource {
  name: RemoteFailure['remote'];
  load: () => Promise<RemoteModule | null>;
}

/** How far a remote's module is. */
export type Progress = 'idle' | 'loading' | 'failed' | 'gone' | 'ready' | 'ready-anew';

/** After this long a visitor is told; the load goes on. */
const SLOW = 8000;

/** A remote's module on its way, once for the whole page. */
export interface RemoteLoad {
  /** Suspends until the module is there, however often loading it fails meanwhile. */
  Component: ComponentType;
  start: () => void;
  /** Fetches it ahead, unless that failed before: then it is for the area that shows it to start anew. */
  prefetch: () => void;
  /** Where it is gone because a newer build has taken its place: loads the page in that build. */
  startAnew: () => void;
  progress: () => Progress;
  subscribe: (onChange: () => void) => () => void;
}

/**
 * Prepares a remote's module to be loaded. A failure never reaches React: HTML that was rendered
 * ahead of time stays, and the area says what is wrong beside it. Where that HTML is of another
 * build than the module, the progress ends at `ready-anew`: then the HTML must not be taken over.
 */
export function remoteLoad({ name, load }: RemoteSource): RemoteLoad {
  const listeners = new Set<() => void>();
  const { promise, resolve } = Promise.withResolvers<RemoteModule>();
  let progress: Progress = 'idle';
  let lastFailure: unknown;

  function change(next: Progress) {
    progress = next;
    for (const listener of listeners) {
      listener();
    }
  }

  function isThere() {
    return progress === 'ready' || progress === 'ready-anew';
  }

  function fail(reason: RemoteFailure['reason']) {
    if (!isThere()) {
      reportFailure({ remote: name, reason });
      change('failed');
    }
  }

  async function explain(failure: unknown) {
    lastFailure = failure;
    if (!isThere() && (await isGone(failure))) {
      change('gone');
    } else {
      fail((await isServed(name)) ? 'broken' : 'unreachable');
    }
  }

  function start() {
    if (progress === 'loading' || isThere()) {
      return;
    }
    change('loading');
    const slow = setTimeout(() => fail('slow'), SLOW);
    retryCode(async () => checked(name, await load()))
      .then(module => {
        const rendered = renderedVersion(name);
        change(rendered === undefined || rendered === module.version ? 'ready' : 'ready-anew');
        resolve(module);
      })
      .catch(explain)
      .finally(() => clearTimeout(slow));
  }

  return {
    Component: lazy(() => {
      // In a browser the area decides when: see `RemoteArea`.
      if (typeof window === 'undefined') {
        start();
      }
      return promise;
    }),
    start,
    prefetch() {
      if (progress === 'idle') {
        start();
      }
    },
    startAnew() {
      if (!loadPageAgain(lastFailure)) {
        fail('broken');
      }
    },
    progress: () => progress,
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

/** What comes over the network may be anything. */
function checked(name: string, module: RemoteModule | null): RemoteModule {
  if (typeof module?.default !== 'function') {
    throw new TypeError(`${name} does not expose a component`);
  }
  return module;
}

async function isServed(name: string): Promise<boolean> {
  const answer = await fetch(`/remotes/${name}/remoteEntry.js`, { method: 'HEAD' }).catch(
    () => undefined,
  );
  return answer?.ok ?? false;
}

/** The build that the page's HTML was rendered with. */
function renderedVersion(name: string): string | undefined {
  if (typeof document === 'undefined') {
    return undefined;
  }
  return document.querySelector<HTMLMetaElement>(`meta[name="remote:${name}"]`)?.content;
}
