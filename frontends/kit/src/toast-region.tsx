import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { lazyPart, useLoadState } from './lazy-part.ts';
import type { Toast, ToasterProps } from './toast.ts';
import { OVERLAY_DURATION_MS } from './toast.ts';

declare global {
  interface WindowEventMap {
    'site:notice': CustomEvent<Toast>;
  }
}

/** Do not rename, because a page may contain front ends of different builds. */
const TOAST_EVENT = 'site:notice';

/** Shows a toast from any front end. */
export function showToast(toast: Toast): void {
  window.dispatchEvent(new CustomEvent(TOAST_EVENT, { detail: toast }));
}

// Marked as pure, so that front ends which only call `showToast` do not bundle the toaster.
const toaster = /* @__PURE__ */ lazyPart<ToasterProps>({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "toaster" */ './toaster.tsx'),
});

/** Toast region of the shell. The first toast loads the toaster's chunk. */
export function ToastRegion() {
  const loadState = useLoadState(toaster);
  const [queue, clearQueue] = useToastQueue();
  const box = useRef<HTMLDivElement>(null);
  const hasToasterFailed = loadState === 'failed' || loadState === 'stale';
  const shown = hasToasterFailed || loadState === 'ready' ? queue : NONE;
  useEffect(() => {
    if (shown.length > 0) {
      // The popover opened last is on top, so a toast covers an open dialog.
      box.current?.hidePopover();
      box.current?.showPopover();
    }
  }, [shown]);
  return (
    <div ref={box} popover="manual" className="size-0 overflow-visible">
      {hasToasterFailed && queue.length > 0 ? (
        <FallbackToasts toasts={queue} onShown={clearQueue} />
      ) : null}
      {loadState === 'ready' ? (
        <Suspense>
          <toaster.Component toasts={queue} onShown={clearQueue} />
        </Suspense>
      ) : null}
    </div>
  );
}

const NONE: ToasterProps['toasts'] = [];

function useToastQueue(): [ToasterProps['toasts'], () => void] {
  const [queue, setQueue] = useState(NONE);
  useEffect(() => {
    let count = 0;
    function add({ detail }: CustomEvent<Toast>) {
      count += 1;
      const toast = { ...detail, id: count };
      setQueue(before => [...before, toast]);
      toaster.start();
    }
    window.addEventListener(TOAST_EVENT, add);
    return () => window.removeEventListener(TOAST_EVENT, add);
  }, []);
  return [queue, useCallback(() => setQueue(NONE), [])];
}

/** Shows toasts if the toaster does not load, because some messages appear only in toasts. */
function FallbackToasts({ toasts, onShown }: ToasterProps) {
  useEffect(() => {
    const timeout = setTimeout(onShown, OVERLAY_DURATION_MS);
    return () => clearTimeout(timeout);
  }, [onShown]);
  return (
    <div
      role="alert"
      className="fixed right-5 bottom-5 rounded-control border border-field-line bg-raised p-4 text-small"
    >
      {toasts.map(({ id, title, text }) => (
        <p key={id}>
          <strong>{title}</strong> {text}
        </p>
      ))}
    </div>
  );
}
