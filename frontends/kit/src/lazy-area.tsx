import type { ComponentType, ReactNode, RefObject } from 'react';
import { memo, Suspense, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { focusOn } from './focus.ts';
import type { LazyPart, LoadState } from './lazy-part.ts';
import { isOnItsWay, useLoadTrouble } from './lazy-part.ts';
import { LoadError } from './load-error.tsx';
import { onNearViewport } from './on-near-viewport.ts';
import { PartBoundary } from './part-boundary.tsx';
import { reportFailure } from './part-failure.ts';

/** Selector of a page's heading, without the heading of an error message. */
export const PAGE_HEADING = ':not([role=alert]) > h1';

interface LazyAreaProps {
  part: LazyPart;
  when?: 'now' | 'near-viewport';
  Placeholder?: ComponentType;
  /** Name of the part in the error message. */
  what?: string;
  /** Called at the first failure, if the page has no heading without the part. */
  onMissing?: () => void;
  children?: ReactNode;
}

/**
 * Slot for a lazily loaded part: Suspense fallback, error boundary, and an error message with Retry. The
 * message stays until the part is shown, so that Retry keeps the focus. Then the focus moves to the part.
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
  // Reloads the page for a stale part. For a deferred part only Retry does so.
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
    // A part that failed on another page is not missing here, because `part.start()` is loading it again.
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
    // A stale part needs a reload of the page.
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

/** Path of the prerendered page, and the content of its outermost areas. */
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
 * Keeps an area's prerendered content until its part is loaded, if React could not hydrate that HTML (see the
 * shell's `early-input.ts`). Visitors read on and fill in forms meanwhile. Returns a function that removes
 * the content.
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
    // All areas of a page mount together. Areas that mount later do not belong to the HTML.
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

function headingIn(area: ParentNode | null) {
  return area?.querySelector<HTMLElement>(PAGE_HEADING);
}

/** Memoised, because a render of the parent makes React discard HTML that is not hydrated yet. */
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

/** Calls `onShown` when React shows the siblings of this component. */
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
