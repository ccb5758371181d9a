import type { ComponentType, ReactNode } from 'react';
import { lazy, useSyncExternalStore } from 'react';
import { isGone, isServed, loadPageAgain, retryCode } from './chunk-loading.ts';
import type { PartFailure } from './part-failure.ts';
import { reportFailure } from './part-failure.ts';
import { SLOW } from './retry.ts';

/** What a part is given where it is shown. */
interface Children {
  children?: ReactNode;
}

/** What the module of a part holds. */
export interface PartModule<Props = Children> {
  default: ComponentType<Props>;
  /** Which build of its remote it is from. Parts of the shell need none: their files carry a hash. */
  version?: string;
}

/** Where a lazily loaded part of the site comes from. */
export interface PartSource<Props = Children> {
  frontEnd: PartFailure['remote'];
  load: () => Promise<PartModule<Props> | null>;
}

/** How far a part is. */
export type Progress = 'idle' | 'loading' | 'failed' | 'gone' | 'ready' | 'ready-anew';

/** A lazily loaded part, once for the whole page. */
export interface LazyPart<Props = Children> {
  frontEnd: PartFailure['remote'];
  /** Suspends until the module is there, however often loading it fails meanwhile. */
  Component: ComponentType<Props>;
  start: () => void;
  /** Fetches it ahead, unless that failed before: then it is for the area that shows it to start anew. */
  prefetch: () => void;
  /** Where it is gone because a newer build has taken its place: loads the page in that build. */
  startAnew: () => void;
  progress: () => Progress;
  subscribe: (onChange: () => void) => () => void;
}

/**
 * Prepares a part of the site to be loaded lazily, whichever front end has it: the one way in which code is loaded. A
 * failure never reaches React: HTML that was rendered ahead of time stays, and the area says what is wrong beside it.
 * Where that HTML is of another build than the module, the progress ends at `ready-anew`: then the HTML must not be
 * taken over.
 */
export function lazyPart<Props = Children>({ frontEnd, load }: PartSource<Props>): LazyPart<Props> {
  const listeners = new Set<() => void>();
  const { promise, resolve } = Promise.withResolvers<PartModule<Props>>();
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
      fail((await isServed(failure, entryOf(frontEnd))) ? 'broken' : 'unreachable');
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

/** How far a part is, for what shows it. In HTML that was rendered ahead of time it has not begun. */
export function useProgress({
  subscribe,
  progress,
}: Pick<LazyPart, 'subscribe' | 'progress'>): Progress {
  return useSyncExternalStore(subscribe, progress, () => 'idle');
}

/** What comes over the network may be anything. */
function checked<Props>(frontEnd: string, module: PartModule<Props> | null): PartModule<Props> {
  if (typeof module?.default !== 'function') {
    throw new TypeError(`${frontEnd} does not expose a component`);
  }
  return module;
}

/** Of a remote the file without which nothing of it loads. */
function entryOf(frontEnd: PartFailure['remote']): string | undefined {
  return frontEnd === 'shell' ? undefined : `/remotes/${frontEnd}/remoteEntry.js`;
}

/** Whether the page's HTML, where it names a build of the remote, was rendered with the module's. */
function isOfRenderedBuild(frontEnd: string, { version }: { version?: string }): boolean {
  if (typeof document === 'undefined') {
    return true;
  }
  const rendered = document.querySelector<HTMLMetaElement>(`meta[name="remote:${frontEnd}"]`);
  return rendered === null || rendered.content === version;
}
