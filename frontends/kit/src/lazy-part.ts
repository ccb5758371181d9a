import type { ComponentType, ReactNode } from 'react';
import { lazy, useSyncExternalStore } from 'react';
import {
  isChunkMissing,
  isChunkServed,
  loadChunkWithRetry,
  reloadPageOnce,
} from './chunk-loading.ts';
import type { PartFailure } from './part-failure.ts';
import { reportFailure } from './part-failure.ts';
import { LOAD_TIMEOUT_MS } from './retry.ts';

interface Children {
  children?: ReactNode;
}

export interface PartModule<Props = Children> {
  default: ComponentType<Props>;
  /** Version of the remote's build. Parts of the shell need none, because their file names have a hash. */
  version?: string;
}

export interface PartSource<Props = Children> {
  frontEnd: PartFailure['frontEnd'];
  load: () => Promise<PartModule<Props> | null>;
  /** The module, if it need not be loaded. */
  module?: PartModule<Props> | undefined;
}

/**
 * Load state of a part. `retrying`: the first attempt failed. `stale`: the file is missing (404), because a
 * newer build has replaced it. `ready-mismatch`: the part is loaded, but another build prerendered the HTML,
 * so React must not hydrate it.
 */
export type LoadState =
  | 'idle'
  | 'loading'
  | 'retrying'
  | 'failed'
  | 'stale'
  | 'ready'
  | 'ready-mismatch';

/**
 * Lazily loaded part, with one instance per page. `Component` suspends until the module is loaded, even if
 * attempts fail. `prefetch` starts only a first load; `start` also retries. `reloadPage` loads the newer
 * build of a stale part.
 */
export type LazyPart<Props = Children> = ReturnType<typeof lazyPart<Props>>;

/**
 * Prepares a part of any front end for lazy loading. All lazy code loads this way. A failure never reaches
 * React, so prerendered HTML stays, and the area shows the error beside it.
 */
export function lazyPart<Props = Children>({ frontEnd, load, module: present }: PartSource<Props>) {
  const { promise, resolve } = Promise.withResolvers<PartModule<Props>>();
  const { state, change, isReady, fail, subscribe } = createLoadState(
    frontEnd,
    present ? 'ready' : 'idle',
  );
  let loaded = present;
  let lastFailure: unknown;

  async function end(failure: unknown) {
    lastFailure = failure;
    const reason = await classifyFailure(failure, frontEnd, isReady);
    if (reason === 'stale') {
      change('stale');
    } else {
      fail(reason);
    }
  }

  async function attempt() {
    try {
      return assertPartModule(frontEnd, await load());
    } catch (failure) {
      if (state() === 'loading') {
        change('retrying');
      }
      throw failure;
    }
  }

  function start() {
    if (isOnItsWay(state()) || isReady()) {
      return;
    }
    change('loading');
    const timeout = setTimeout(() => fail('slow'), LOAD_TIMEOUT_MS);
    loadChunkWithRetry(attempt)
      .then(module => {
        // Set before `change` calls listeners, so that React replaces the old content without a fallback.
        loaded = module;
        resolve(module);
        change(matchesPrerenderedBuild(frontEnd, module) ? 'ready' : 'ready-mismatch');
      })
      .catch(end)
      .finally(() => clearTimeout(timeout));
  }

  return {
    frontEnd,
    Component: suspending(() => loaded, promise, start),
    start,
    prefetch() {
      if (state() === 'idle') {
        start();
      }
    },
    reloadPage() {
      if (!reloadPageOnce(lastFailure)) {
        fail('broken');
      }
    },
    state,
    subscribe,
  };
}

export function isOnItsWay(state: LoadState): boolean {
  return state === 'loading' || state === 'retrying';
}

/** Component that suspends until its module is loaded. In browsers `LazyArea` starts the load. */
function suspending<Props>(
  loaded: () => PartModule<Props> | undefined,
  promise: Promise<PartModule<Props>>,
  start: () => void,
): ComponentType<Props> {
  return lazy(() => {
    if (typeof window === 'undefined') {
      start();
    }
    const module = loaded();
    return module ? fulfilled(module) : promise;
  });
}

/** Promise that calls back synchronously, so that React shows a loaded module without a fallback first. */
function fulfilled<Value>(value: Value): Promise<Value> {
  const promise = Promise.resolve(value);
  return Object.assign(promise, {
    // biome-ignore lint/suspicious/noThenProperty: a promise has one
    then: (done: (value: Value) => void) => Promise.resolve(done(value)),
  });
}

function createLoadState(frontEnd: PartFailure['frontEnd'], initial: LoadState) {
  const listeners = new Set<() => void>();
  let current = initial;
  const isReady = () => current === 'ready' || current === 'ready-mismatch';

  function change(next: LoadState) {
    current = next;
    for (const listener of listeners) {
      listener();
    }
  }

  function fail(reason: PartFailure['reason']) {
    if (!isReady()) {
      reportFailure({ frontEnd, reason });
      change('failed');
    }
  }

  return {
    state: () => current,
    isReady,
    change,
    fail,
    subscribe(onChange: () => void) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
  };
}

/** Load state of a part. In prerendered HTML it is `idle`. */
export function useLoadState({
  subscribe,
  state,
}: Pick<LazyPart, 'subscribe' | 'state'>): LoadState {
  return useSyncExternalStore(subscribe, state, () => 'idle');
}

/**
 * Load state of a part, or undefined while nothing is wrong. So a successful load does not cause a render of
 * the whole page.
 */
export function useLoadTrouble({
  subscribe,
  state,
}: Pick<LazyPart, 'subscribe' | 'state'>): LoadState | undefined {
  const trouble = () => (UNTROUBLED.includes(state()) ? undefined : state());
  return useSyncExternalStore(subscribe, trouble, () => undefined);
}

const UNTROUBLED: readonly LoadState[] = ['idle', 'loading', 'ready'];

async function classifyFailure(
  failure: unknown,
  frontEnd: PartFailure['frontEnd'],
  isReady: () => boolean,
): Promise<'stale' | 'broken' | 'unreachable'> {
  if (!isReady() && (await isChunkMissing(failure))) {
    return 'stale';
  }
  return (await isChunkServed(failure, entryOf(frontEnd))) ? 'broken' : 'unreachable';
}

/** Checks a loaded module at run time, because the network may bring anything. */
function assertPartModule<Props>(
  frontEnd: string,
  module: PartModule<Props> | null,
): PartModule<Props> {
  if (typeof module?.default !== 'function') {
    throw new TypeError(`${frontEnd} does not expose a component`);
  }
  return module;
}

/** Entry of a remote, which all its modules need. */
function entryOf(frontEnd: PartFailure['frontEnd']): string | undefined {
  return frontEnd === 'shell' ? undefined : `/remotes/${frontEnd}/remoteEntry.js`;
}

/** Whether the module's build prerendered the HTML. Also true if the HTML names no build of the remote. */
function matchesPrerenderedBuild(frontEnd: string, { version }: { version?: string }): boolean {
  if (typeof document === 'undefined') {
    return true;
  }
  const prerendered = document.querySelector<HTMLMetaElement>(`meta[name="remote:${frontEnd}"]`);
  return prerendered === null || prerendered.content === version;
}
