import { Button } from '@site/kit/button.tsx';
import { onNear } from '@site/kit/on-near.ts';
import type { ComponentType } from 'react';
import { memo, Suspense, useEffect, useRef, useSyncExternalStore } from 'react';
import { RemoteBoundary } from './remote-boundary.tsx';
import type { Progress, RemoteLoad } from './remote-load.ts';
import { remoteLoad } from './remote-load.ts';
import { remotes } from './remotes.ts';

type Name = keyof typeof remotes;

const loads = Object.fromEntries(
  Object.entries(remotes).map(([name, source]) => [name, remoteLoad(source)]),
) as Record<Name, RemoteLoad>;

/** How to fetch what fills an area ahead. */
export function prefetchArea(of: Name): () => void {
  return loads[of].prefetch;
}

interface RemoteAreaProps {
  of: Name;
  /** When to load it: at once, or when it comes near the view. */
  when?: 'now' | 'near';
  /** What stands there until it is loaded. */
  Placeholder?: ComponentType;
}

/** A part of a page that a remote fills. Whatever happens to the remote stays within it. */
export function RemoteArea({ of, when = 'now', Placeholder = Loading }: RemoteAreaProps) {
  const load = loads[of];
  const progress = useProgress(load);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => (when === 'now' ? load.start() : onNear(area.current, load.start)), [when, load]);
  const isReplaced = progress === 'gone' && when === 'now';
  useEffect(() => {
    if (isReplaced) {
      load.startAnew();
    }
  }, [isReplaced, load]);
  return (
    <div ref={area} data-area={remotes[of].name}>
      {progress === 'failed' ? <Failed onRetry={load.start} /> : null}
      {/* The page is loaded again only for what the visitor came for, or asks for. */}
      {progress === 'gone' && !isReplaced ? <Failed onRetry={load.startAnew} /> : null}
      <RemoteBoundary remote={remotes[of].name} fallback={retry => <Failed onRetry={retry} />}>
        <Content
          key={progress === 'ready-anew' ? 'anew' : 'taken over'}
          load={load}
          Placeholder={Placeholder}
        />
      </RemoteBoundary>
    </div>
  );
}

/** Memoised, because React gives up HTML that it has not taken over yet when its parent renders. */
const Content = memo(({ load, Placeholder }: ContentProps) => (
  <Suspense fallback={<Waiting load={load} Placeholder={Placeholder} />}>
    <load.Component />
  </Suspense>
));

interface ContentProps {
  load: RemoteLoad;
  Placeholder: ComponentType;
}

function Waiting({ load, Placeholder }: ContentProps) {
  return useProgress(load) === 'failed' ? null : <Placeholder />;
}

function Loading() {
  return (
    <p role="status" className="mx-auto max-w-page px-5 py-16 text-ink-2 md:px-8">
      Loading…
    </p>
  );
}

function Failed({ onRetry }: { onRetry: () => void }) {
  return (
    <div role="alert" className="mx-auto max-w-page px-5 py-16 md:px-8">
      <p className="max-w-text text-lead">This part of the site did not load.</p>
      <p className="mt-2 mb-6 max-w-text text-ink-2">
        Everything else keeps working. Check your connection, or try again in a moment.
      </p>
      <Button kind="quiet" onClick={onRetry}>
        Retry
      </Button>
    </div>
  );
}

function useProgress({ subscribe, progress }: RemoteLoad): Progress {
  return useSyncExternalStore(subscribe, progress, () => 'idle');
}
