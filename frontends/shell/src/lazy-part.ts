import { fileOf, isGone, loadPageAgain, retryCode } from '@site/kit/load-code.ts';
import type { ComponentType } from 'react';
import { lazy } from 'react';
import type { PartFailure } from './part-failure.ts';
import { reportFailure } from './part-failure.ts';

/** What the module of a part holds. */
export interface PartModule {
  default: ComponentType;
  /** Which build of its remote it is from. Parts of the shell need none: their files carry a hash. */
  version?: string;
}

/** Where a lazily loaded part of the site comes from. */
export interface PartSource {
  frontEnd: PartFailure['remote'];
  load: () => Promise<PartModule | null>;
}

/** How far a part is. */
export type Progress = 'idle' | 'loading' | 'failed' | 'gone' | 'ready' | 'ready-anew';

/** After this long a visitor is told; the load goes on. */
const SLOW = 8000;

/** A lazily loaded part, once for the whole page. */
export interface LazyPart {
  frontEnd: PartFailure['remote'];
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
 * Prepares a part of the site to be loaded lazily, whether a remote or the shell has it. A failure never reaches React:
 * HTML that was rendered ahead of time stays, and the area says what is wrong beside it. Where that HTML is of another
 * build than the module, the progress ends at `ready-anew`: then the HTML must not be taken over.
 */
export function lazyPart({ frontEnd, load }: PartSource): LazyPart {
  const listeners = new Set<() => void>();
  const { promise, resolve } = Promise.withResolvers<PartModule>();
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

  function fail(reason: PartFailure['reason']) {
    if (!isThere()) {
      reportFailure({ remote: frontEnd, reason });
      change('failed');
    }
  }

  async function explain(failure: unknown) {
    lastFailure = failure;
    if (!isThere() && (await isGone(failure))) {
      change('gone');
    } else {
      fail((await isServed(frontEnd, failure)) ? 'broken' : 'unreachable');
    }
  }

  function start() {
    if (progress === 'loading' || isThere()) {
      return;
    }
    change('loading');
    const slow = setTimeout(() => fail('slow'), SLOW);
    retryCode(async () => checked(frontEnd, await load()))
      .then(module => {
        change(isOfRenderedBuild(frontEnd, module) ? 'ready' : 'ready-anew');
        resolve(module);
      })
      .catch(explain)
      .finally(() => clearTimeout(slow));
  }

  return {
    frontEnd,
    Component: lazy(() => {
      // In a browser the area decides when: see `LazyArea`.
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
function checked(frontEnd: string, module: PartModule | null): PartModule {
  if (typeof module?.default !== 'function') {
    throw new TypeError(`${frontEnd} does not expose a component`);
  }
  return module;
}

/** Whether the server has the file that did not load; of a remote its entry, without which nothing loads. */
async function isServed(frontEnd: string, failure: unknown): Promise<boolean> {
  const file = frontEnd === 'shell' ? fileOf(failure) : `/remotes/${frontEnd}/remoteEntry.js`;
  const answer = file && (await fetch(file, { method: 'HEAD' }).catch(() => undefined));
  return answer ? answer.ok : false;
}

/** Whether the page's HTML, where it names a build of the remote, was rendered with the module's. */
function isOfRenderedBuild(frontEnd: string, { version }: PartModule): boolean {
  if (typeof document === 'undefined') {
    return true;
  }
  const rendered = document.querySelector<HTMLMetaElement>(`meta[name="remote:${frontEnd}"]`);
  return rendered === null || rendered.content === version;
}
