import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { lazyPart, useProgress } from './lazy-part.ts';
import type { Notice, ToasterProps } from './notice.ts';
import { OVERLAY_FOR } from './notice.ts';

declare global {
  interface WindowEventMap {
    'site:notice': CustomEvent<Notice>;
  }
}

const NOTICE = 'site:notice';
/** Shows a notice, from whichever front end. */
export function notify(notice: Notice): void {
  window.dispatchEvent(new CustomEvent(NOTICE, { detail: notice }));
}

// For who only notifies the bundler leaves it out.
const toaster = /* @__PURE__ */ lazyPart<ToasterProps>({
  frontEnd: 'shell',
  load: () => import(/* webpackChunkName: "toaster" */ './toaster.tsx'),
});

/** Where notices appear: once, in the shell. What shows them is fetched with the first one. */
export function Notices() {
  const progress = useProgress(toaster);
  const [waiting, forget] = useWaiting();
  const box = useRef<HTMLDivElement>(null);
  const isLost = progress === 'failed' || progress === 'gone';
  const shown = isLost || progress === 'ready' ? waiting : NONE;
  useEffect(() => {
    if (shown.length > 0) {
      // What was opened last lies on top, so a notice is read also while a dialog is open.
      box.current?.hidePopover();
      box.current?.showPopover();
    }
  }, [shown]);
  return (
    <div ref={box} popover="manual" className="size-0 overflow-visible">
      {isLost && waiting.length > 0 ? <Plain notices={waiting} onShown={forget} /> : null}
      {progress === 'ready' ? (
        <Suspense>
          <toaster.Component notices={waiting} onShown={forget} />
        </Suspense>
      ) : null}
    </div>
  );
}

const NONE: ToasterProps['notices'] = [];

/** What was told of and not shown yet, and how to forget it. */
function useWaiting(): [ToasterProps['notices'], () => void] {
  const [waiting, setWaiting] = useState(NONE);
  useEffect(() => {
    let told = 0;
    function take({ detail }: CustomEvent<Notice>) {
      told += 1;
      const notice = { ...detail, id: told };
      setWaiting(before => [...before, notice]);
      toaster.start();
    }
    window.addEventListener(NOTICE, take);
    return () => window.removeEventListener(NOTICE, take);
  }, []);
  return [waiting, useCallback(() => setWaiting(NONE), [])];
}

/** Notices without the toaster: of what a notice says, some stands nowhere else. */
function Plain({ notices, onShown }: ToasterProps) {
  useEffect(() => {
    const over = setTimeout(onShown, OVERLAY_FOR);
    return () => clearTimeout(over);
  }, [onShown]);
  return (
    <div
      role="alert"
      className="fixed right-5 bottom-5 rounded-control border border-field-line bg-raised p-4 text-small"
    >
      {notices.map(({ id, title, text }) => (
        <p key={id}>
          <strong>{title}</strong> {text}
        </p>
      ))}
    </div>
  );
}
