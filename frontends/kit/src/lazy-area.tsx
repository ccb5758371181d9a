import type { ComponentType, ReactNode } from 'react';
import { memo, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { DidNotLoad } from './did-not-load.tsx';
import { focusOn } from './focus-on.ts';
import type { LazyPart } from './lazy-part.ts';
import { useProgress } from './lazy-part.ts';
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

/**
 * Area of a page that a lazily loaded part fills. Whatever happens to the part stays within it. That it did not load is
 * said until it is shown, so that whoever presses Retry keeps the focus, and goes on at what comes.
 */
export function LazyArea({
  part,
  when = 'now',
  Placeholder = Loading,
  what = 'This part of the site',
  children,
}: LazyAreaProps) {
  const progress = useProgress(part);
  const area = useRef<HTMLDivElement>(null);
  const failure = useRef<HTMLDivElement>(null);
  const [missing, setMissing] = useState<'page' | 'part'>();
  const [showAgain, setShowAgain] = useState<() => void>();
  useEffect(() => (when === 'now' ? part.start() : onNear(area.current, part.start)), [when, part]);
  const isReplaced = progress === 'gone' && when === 'now';
  useEffect(() => {
    if (isReplaced) {
      part.startAnew();
    }
  }, [isReplaced, part]);

  const hasFailed = showAgain || progress === 'failed' || (progress === 'gone' && !isReplaced);
  useEffect(() => {
    // What failed on another page is on its way again.
    if (hasFailed && part.progress() !== 'loading') {
      setMissing(before => before ?? (document.querySelector('h1') ? 'part' : 'page'));
    }
  }, [hasFailed, part]);

  function retry() {
    setShowAgain(undefined);
    // The page is loaded again only for what the visitor came for, or asks for.
    (showAgain ?? (progress === 'gone' ? part.startAnew : part.start))();
  }

  const onShown = useCallback(() => {
    if (failure.current?.contains(document.activeElement)) {
      const begin = headingIn(area.current) ?? area.current;
      if (begin) {
        focusOn(begin);
      }
    }
    setMissing(undefined);
  }, []);

  return (
    <div ref={area} data-area={part.frontEnd}>
      {missing ? (
        <DidNotLoad
          ref={failure}
          what={missing === 'page' ? undefined : what}
          onRetry={hasFailed ? retry : undefined}
        />
      ) : null}
      <PartBoundary
        onFailure={again => {
          reportFailure({ remote: part.frontEnd, reason: 'broken' });
          setShowAgain(() => again);
        }}
      >
        <Content
          key={progress === 'ready-anew' ? 'anew' : 'taken over'}
          part={part}
          Placeholder={Placeholder}
          onShown={onShown}
        >
          {children}
        </Content>
      </PartBoundary>
    </div>
  );
}

/** The page's heading, where the part has brought it. */
function headingIn(area: Element | null) {
  return area?.querySelector<HTMLElement>(':not([role=alert]) > h1');
}

/** Memoised, because React gives up HTML that it has not taken over yet when its parent renders. */
const Content = memo(({ part, Placeholder, onShown, children }: ContentProps) => (
  <Suspense fallback={<Waiting part={part} Placeholder={Placeholder} />}>
    <part.Component>{children}</part.Component>
    <Shown onShown={onShown} />
  </Suspense>
));

interface ContentProps extends WaitingProps, ShownProps {
  children: ReactNode;
}

interface WaitingProps {
  part: LazyPart;
  Placeholder: ComponentType;
}

function Waiting({ part, Placeholder }: WaitingProps) {
  return useProgress(part) === 'failed' ? null : <Placeholder />;
}

interface ShownProps {
  onShown: () => void;
}

/** Tells when what it stands beside is shown. */
function Shown({ onShown }: ShownProps) {
  useLayoutEffect(onShown, [onShown]);
  return null;
}

function Loading() {
  return (
    <p role="status" className="mx-auto max-w-page px-5 py-16 text-ink-2 not-only:hidden md:px-8">
      Loading…
    </p>
  );
}
