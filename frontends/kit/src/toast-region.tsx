import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { lazyPart, useLoadState } from './lazy-part.ts';
import type { Toast, ToasterProps } from './toast.ts';
import { OVERLAY_DURATION_MS } from './toast.ts';

declare global {
  interface WindowEventMap {
    'site:notice': CustomEvent<Toast>;
  }
}

/** Front ends of different builds may be open together, so this name stays what it was in the first. */
const TOAST_EVENT = 'site:notice';

/** Shows a toast, from whichever front end. */
export function showToast(toast: Toast): void {
  window.dispatchEvent(new CustomEvent(TOAST_EVENT, { detail: toast }));
}

// For who only shows toasts the bundler leaves it out.
const toaster = /* @__PURE__ */ lazyPart<ToasterProps>({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "toaster" */ './toaster.tsx'),
});

/** Toast region, once, in the shell; the toaster chunk is lazily loaded with the first toast. */
export function ToastRegion() {
  const loadState = useLoadState(toaster);
  const [queue, clearQueue] = useToastQueue();
  const box = useRef<HTMLDivElement>(null);
  const hasToasterFailed = loadState === 'failed' || loadState === 'stale';
  const shown = hasToasterFailed || loadState === 'ready' ? queue : NONE;
  useEffect(() => {
    if (shown.length > 0) {
      // What was opened last lies on top, so a toast is read also while a dialog is open.
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

/** Toasts that are not shown yet, and how to clear them. */
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

/** Toasts without the toaster: of what a toast says, some stands nowhere else. */
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
