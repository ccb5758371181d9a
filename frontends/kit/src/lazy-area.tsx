import type { ComponentType, ReactNode, RefObject } from 'react';
import { memo, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { focusOn } from './focus.ts';
import type { LazyPart, LoadState } from './lazy-part.ts';
import { isOnItsWay, useLoadTrouble } from './lazy-part.ts';
import { LoadError } from './load-error.tsx';
import { onNearViewport } from './on-near-viewport.ts';
import { PartBoundary } from './part-boundary.tsx';
import { reportFailure } from './part-failure.ts';

/** Selector of a page's heading, which that of an error message is not. */
export const PAGE_HEADING = ':not([role=alert]) > h1';

interface LazyAreaProps {
  part: LazyPart;
  /** Loading strategy: at once, or when it comes near the viewport. */
  when?: 'now' | 'near-viewport';
  /** Suspense fallback until it is loaded. */
  Placeholder?: ComponentType;
  /** What it is, for whom it did not load. */
  what?: string;
  /** Called when it does not come at once, or cannot be shown, and the page has nothing else to show. */
  onMissing?: () => void;
  /** For the part. */
  children?: ReactNode;
}

/**
 * Slot for a lazily loaded part: Suspense fallback, error boundary, and an error message with Retry. The message stays
 * until the part is shown, so that whoever presses Retry keeps the focus, and goes on at what comes.
 */
export function LazyArea({
  part,
  when = 'now',
  Placeholder = Loading,
  what = 'This part of the site',
  onMissing,
  children,
}: LazyAreaProps) {
  const area = useRef<HTMLDivElement>(null);
  const state = useLoadTrouble(part);
  const isReloading = state === 'stale' && when === 'now';
  useEffect(
    () => (when === 'now' ? part.start() : onNearViewport(area.current, part.start)),
    [when, part],
  );
  // What the visitor came for is stale.
  useEffect(() => {
    if (isReloading) {
      part.reloadPage();
    }
  }, [isReloading, part]);
  const dropPrerendered = usePrerenderedContent(area);
  const { missing, message, retry, onFailure, onShown } = useLoadError(
    part,
    state,
    isReloading,
    area,
    dropPrerendered,
    onMissing,
  );

  return (
    <div ref={area} data-area={part.frontEnd}>
      {missing ? (
        <LoadError ref={message} what={missing === 'page' ? undefined : what} onRetry={retry} />
      ) : null}
      <PartBoundary onFailure={onFailure}>
        <Content
          key={state === 'ready-mismatch' ? 'rendered anew' : 'hydrated'}
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

type AreaRef = RefObject<HTMLDivElement | null>;

/** Error state of an area: what is missing, the page or a part of it, and what tries again. */
function useLoadError(
  part: LazyPart,
  state: LoadState | undefined,
  isReloading: boolean,
  area: AreaRef,
  dropPrerendered: () => void,
  onMissing: LazyAreaProps['onMissing'],
) {
  const message = useRef<HTMLDivElement>(null);
  const [missing, setMissing] = useState<'page' | 'part'>();
  const [showAgain, setShowAgain] = useState<() => void>();
  const hasFailed = showAgain || state === 'failed' || (state === 'stale' && !isReloading);
  useEffect(() => {
    // What failed on another page is on its way again.
    if (hasFailed && !isOnItsWay(part.state())) {
      setMissing(before => before ?? (headingIn(document) ? 'part' : 'page'));
    }
  }, [hasFailed, part]);
  const isInTrouble = Boolean(hasFailed) || state === 'retrying';
  useEffect(() => {
    if (isInTrouble && !headingIn(document)) {
      onMissing?.();
    }
  }, [isInTrouble, onMissing]);

  function retry() {
    setShowAgain(undefined);
    // The page is reloaded only for what the visitor came for, or asks for.
    (showAgain ?? (state === 'stale' ? part.reloadPage : part.start))();
  }

  function onFailure(again: () => void) {
    reportFailure({ frontEnd: part.frontEnd, reason: 'broken' });
    setShowAgain(() => again);
  }

  const onShown = useCallback(() => {
    dropPrerendered();
    if (message.current?.contains(document.activeElement)) {
      const begin = headingIn(area.current) ?? area.current;
      if (begin) {
        focusOn(begin);
      }
    }
    setMissing(undefined);
  }, [area, dropPrerendered]);
  return { missing, message, retry: hasFailed ? retry : undefined, onFailure, onShown };
}

/** Address of the page whose HTML this is, and what its areas hold, but for areas within areas. */
const address = typeof document === 'undefined' ? '' : location.pathname;
const prerendered =
  typeof document === 'undefined'
    ? []
    : areas().map(area => ({ area, content: Array.from(area.childNodes) }));

function areas(): Element[] {
  const all = [...document.querySelectorAll('[data-area]')];
  return all.filter(area => !area.parentElement?.closest('[data-area]'));
}

/**
 * Keeps what the page's HTML holds of an area until the part is there, where React could not hydrate that HTML (see
 * the shell's `early-input.ts`): a visitor reads on, and fills in its forms. Returns what ends it.
 */
function usePrerenderedContent(area: AreaRef): () => void {
  const kept = useRef<readonly ChildNode[]>([]);
  const isShown = useRef(false);
  useLayoutEffect(() => {
    const own = area.current;
    const former = own && location.pathname === address ? prerendered[areas().indexOf(own)] : null;
    if (own && former && former.area !== own && !isShown.current) {
      for (const placeholder of own.querySelectorAll<HTMLElement>(':scope > *')) {
        placeholder.hidden = true;
      }
      kept.current = former.content;
      own.append(...former.content);
    }
    // The areas of a page come together; one that comes later has nothing to do with its HTML.
    queueMicrotask(() => prerendered.splice(0));
  }, [area]);
  return useCallback(() => {
    isShown.current = true;
    for (const node of kept.current) {
      node.remove();
    }
    kept.current = [];
  }, []);
}

/** The page's heading, where the part has brought it. */
function headingIn(area: ParentNode | null) {
  return area?.querySelector<HTMLElement>(PAGE_HEADING);
}

/** Memoised, because React gives up HTML that it has not hydrated yet when its parent renders. */
const Content = memo(({ part, Placeholder, onShown, children }: ContentProps) => (
  <Suspense fallback={<Waiting part={part} Placeholder={Placeholder} />}>
    <part.Component>{children}</part.Component>
    <Shown onShown={onShown} />
  </Suspense>
));

interface ContentProps {
  part: LazyPart;
  Placeholder: ComponentType;
  onShown: () => void;
  children: ReactNode;
}

function Waiting({ part, Placeholder }: Pick<ContentProps, 'part' | 'Placeholder'>) {
  return useLoadTrouble(part) === 'failed' ? null : <Placeholder />;
}

/** Tells when what it stands beside is shown. */
function Shown({ onShown }: Pick<ContentProps, 'onShown'>) {
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
