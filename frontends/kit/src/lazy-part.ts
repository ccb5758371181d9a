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

/** Props of a part. */
interface Children {
  children?: ReactNode;
}

/** Exports of a part's module. */
export interface PartModule<Props = Children> {
  default: ComponentType<Props>;
  /** Version of its remote's build. Parts of the shell need none: their files carry a hash. */
  version?: string;
}

/** Source of a lazily loaded part of the site. */
export interface PartSource<Props = Children> {
  frontEnd: PartFailure['frontEnd'];
  load: () => Promise<PartModule<Props> | null>;
  /** Its module, where nothing has to be loaded. */
  module?: PartModule<Props> | undefined;
}

/**
 * Load state of a part. `retrying`: it did not come at once, and is asked for again. `stale`: its file is missing (404), because a newer
 * build has taken its place. `ready-mismatch`: it is loaded, but the page's HTML was prerendered with another build, and must
 * not be hydrated.
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
 * A lazily loaded part, once for the whole page. Its `Component` suspends until the module is there, however often loading it
 * fails meanwhile. `prefetch` starts the load unless that failed before: then it is for the area that shows it. `reloadPage`
 * is for a stale one: the page then is of the newer build.
 */
export type LazyPart<Props = Children> = ReturnType<typeof lazyPart<Props>>;

/**
 * Prepares a part of the site to be loaded lazily, whichever front end has it: the one way in which code is loaded. A
 * failure never reaches React: prerendered HTML stays, and the area says what is wrong beside it.
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
        // Before anybody is told: React then shows it in the place of what was there, without anything in between.
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

/** Whether a part is asked for. */
export function isOnItsWay(state: LoadState): boolean {
  return state === 'loading' || state === 'retrying';
}

/** Component that suspends until its module is there. In a browser `LazyArea` decides when to start. */
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

/** A promise that calls back at once: React then shows what is there without a fallback before it. */
function fulfilled<Value>(value: Value): Promise<Value> {
  const promise = Promise.resolve(value);
  return Object.assign(promise, {
    // biome-ignore lint/suspicious/noThenProperty: a promise has one
    then: (done: (value: Value) => void) => Promise.resolve(done(value)),
  });
}

/** Load state of a part, and who is told of its changes. */
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

/** Load state of a part, for what shows it. In prerendered HTML it has not begun. */
export function useLoadState({
  subscribe,
  state,
}: Pick<LazyPart, 'subscribe' | 'state'>): LoadState {
  return useSyncExternalStore(subscribe, state, () => 'idle');
}

/**
 * Load state of a part, for what stands in its place: only what is to be seen there. That a load begins and ends well changes
 * nothing, and would have React go through the whole page each time.
 */
export function useLoadTrouble({
  subscribe,
  state,
}: Pick<LazyPart, 'subscribe' | 'state'>): LoadState | undefined {
  const trouble = () => (UNTROUBLED.includes(state()) ? undefined : state());
  return useSyncExternalStore(subscribe, trouble, () => undefined);
}

const UNTROUBLED: readonly LoadState[] = ['idle', 'loading', 'ready'];

/** Why a part did not load. */
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

/** Runtime check of a loaded module: the network may bring anything. */
function assertPartModule<Props>(
  frontEnd: string,
  module: PartModule<Props> | null,
): PartModule<Props> {
  if (typeof module?.default !== 'function') {
    throw new TypeError(`${frontEnd} does not expose a component`);
  }
  return module;
}

/** Of a remote the file without which nothing of it loads. */
function entryOf(frontEnd: PartFailure['frontEnd']): string | undefined {
  return frontEnd === 'shell' ? undefined : `/remotes/${frontEnd}/remoteEntry.js`;
}

/** Whether the page's HTML, where it names a build of the remote, was prerendered with the module's. */
function matchesPrerenderedBuild(frontEnd: string, { version }: { version?: string }): boolean {
  if (typeof document === 'undefined') {
    return true;
  }
  const prerendered = document.querySelector<HTMLMetaElement>(`meta[name="remote:${frontEnd}"]`);
  return prerendered === null || prerendered.content === version;
}
