import type { ComponentType, ReactNode } from 'react';
import { memo, Suspense, useEffect, useRef } from 'react';
import type { LazyPart } from './lazy-part.ts';
import { useProgress } from './lazy-part.ts';
import { DidNotLoad } from './message.tsx';
import { onNear } from './on-near.ts';
import { PartBoundary } from './part-boundary.tsx';
import { reportFailure } from './part-failure.ts';

interface LazyAreaProps {
  part: LazyPart;
  /** When to load it: at once, or when it comes near the view. */
  when?: 'now' | 'near';
  /** What stands there until it is loaded. */
  Placeholder?: ComponentType;
  /** What it is, for whom it did not load. */
  what?: string;
  /** For the part. */
  children?: ReactNode;
}

/** Area of a page that a lazily loaded part fills. Whatever happens to the part stays within it. */
export function LazyArea({
  part,
  when = 'now',
  Placeholder = Loading,
  what = 'This part of the site',
  children,
}: LazyAreaProps) {
  const progress = useProgress(part);
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => (when === 'now' ? part.start() : onNear(area.current, part.start)), [when, part]);
  const isReplaced = progress === 'gone' && when === 'now';
  useEffect(() => {
    if (isReplaced) {
      part.startAnew();
    }
  }, [isReplaced, part]);
  return (
    <div ref={area} data-area={part.frontEnd}>
      {progress === 'failed' ? <Failed what={what} onRetry={part.start} /> : null}
      {/* The page is loaded again only for what the visitor came for, or asks for. */}
      {progress === 'gone' && !isReplaced ? <Failed what={what} onRetry={part.startAnew} /> : null}
      <PartBoundary
        onFailure={() => reportFailure({ remote: part.frontEnd, reason: 'broken' })}
        fallback={retry => <Failed what={what} onRetry={retry} />}
      >
        <Content
          key={progress === 'ready-anew' ? 'anew' : 'taken over'}
          part={part}
          Placeholder={Placeholder}
        >
          {children}
        </Content>
      </PartBoundary>
    </div>
  );
}

/** Memoised, because React gives up HTML that it has not taken over yet when its parent renders. */
const Content = memo(({ part, Placeholder, children }: ContentProps) => (
  <Suspense fallback={<Waiting part={part} Placeholder={Placeholder} />}>
    <part.Component>{children}</part.Component>
  </Suspense>
));

interface ContentProps extends WaitingProps {
  children: ReactNode;
}

interface WaitingProps {
  part: LazyPart;
  Placeholder: ComponentType;
}

function Waiting({ part, Placeholder }: WaitingProps) {
  return useProgress(part) === 'failed' ? null : <Placeholder />;
}

function Loading() {
  return (
    <p role="status" className="mx-auto max-w-page px-5 py-16 text-ink-2 md:px-8">
      Loading…
    </p>
  );
}

function Failed(props: { what: string; onRetry: () => void }) {
  return (
    <DidNotLoad
      {...props}
      advice="Everything else keeps working. Check your connection, or try again in a moment."
      className="mx-auto max-w-page px-5 py-16 md:px-8"
    />
  );
}
