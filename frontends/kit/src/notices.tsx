import type { ComponentType, CSSProperties } from 'react';
import { useEffect, useRef, useState } from 'react';
import type { ToasterProps } from 'sonner';
import { retry } from './retry.ts';

/** Something that just happened, told in the corner. */
export interface Notice {
  /** An overlay replaces the overlay before it, and stays a little longer. */
  kind: 'success' | 'error' | 'overlay';
  title: string;
  text: string;
}

declare global {
  interface WindowEventMap {
    'site:notice': CustomEvent<Notice>;
  }
}

const NOTICE = 'site:notice';
const SHOWN_AT_ONCE = 3;
const SHOWN_FOR = 4000;
/** The specification's second toast system: one at a time. */
const OVERLAY = { id: 'overlay', duration: 5000 };

/** The tokens in sonner's own names for them. */
const LOOK = {
  '--normal-bg': 'var(--raised)',
  '--normal-text': 'var(--ink)',
  '--normal-border': 'var(--field-line)',
  '--border-radius': 'var(--radius-control)',
  fontFamily: 'inherit',
} as CSSProperties;

/** Shows a notice, from whichever front end. */
export function notify(notice: Notice): void {
  window.dispatchEvent(new CustomEvent(NOTICE, { detail: notice }));
}

/** Where notices appear: once, in the shell. What shows them is fetched with the first one. */
export function Notices() {
  const [Toaster, setToaster] = useState<ComponentType<ToasterProps>>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    async function show(event: CustomEvent<Notice>) {
      const { kind, title, text } = event.detail;
      const sonner = await retry(() => import('sonner')).catch(() => undefined);
      // Without it nobody misses a word: whatever a notice says stands in the page as well.
      if (!sonner) {
        return;
      }
      setToaster(() => sonner.Toaster);
      // What was opened last lies on top, so a notice is read also while a dialog is open.
      box.current?.hidePopover();
      box.current?.showPopover();
      if (kind === 'overlay') {
        sonner.toast.message(title, { description: text, ...OVERLAY });
      } else {
        sonner.toast[kind](title, { description: text });
      }
    }
    window.addEventListener(NOTICE, show);
    return () => window.removeEventListener(NOTICE, show);
  }, []);
  return (
    <div ref={box} popover="manual" className="size-0 overflow-visible">
      {Toaster ? (
        <Toaster
          containerAriaLabel="Notifications"
          hotkey={['altKey', 'KeyT']}
          position="bottom-right"
          visibleToasts={SHOWN_AT_ONCE}
          duration={SHOWN_FOR}
          style={LOOK}
          toastOptions={{ classNames: { description: 'text-ink-2!' } }}
        />
      ) : null}
    </div>
  );
}
