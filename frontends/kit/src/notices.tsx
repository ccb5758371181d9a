import type { ComponentType } from 'react';
import { useEffect, useState } from 'react';
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

/** Shows a notice, from whichever front end. */
export function notify(notice: Notice): void {
  window.dispatchEvent(new CustomEvent(NOTICE, { detail: notice }));
}

/** Where notices appear: once, in the shell. What shows them is fetched with the first one. */
export function Notices() {
  const [Toaster, setToaster] = useState<ComponentType<ToasterProps>>();
  useEffect(() => {
    async function show(event: CustomEvent<Notice>) {
      const { kind, title, text } = event.detail;
      const sonner = await retry(() => import('sonner'));
      setToaster(() => sonner.Toaster);
      if (kind === 'overlay') {
        sonner.toast.message(title, { description: text, ...OVERLAY });
      } else {
        sonner.toast[kind](title, { description: text });
      }
    }
    window.addEventListener(NOTICE, show);
    return () => window.removeEventListener(NOTICE, show);
  }, []);
  return Toaster ? (
    <Toaster
      containerAriaLabel="Notifications"
      hotkey={['altKey', 'KeyT']}
      position="bottom-right"
      visibleToasts={SHOWN_AT_ONCE}
      duration={SHOWN_FOR}
    />
  ) : null;
}
