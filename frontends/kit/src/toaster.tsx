import type { CSSProperties } from 'react';
import { useEffect } from 'react';
import { Toaster as Corner, toast } from 'sonner';
import type { ToasterProps } from './notice.ts';
import { OVERLAY_FOR } from './notice.ts';

const SHOWN_AT_ONCE = 3;
const SHOWN_FOR = 4000;
/** The specification's second toast system: one at a time. */
const OVERLAY = { id: 'overlay', duration: OVERLAY_FOR };

/** The tokens in sonner's own names for them. */
const LOOK = {
  '--normal-bg': 'var(--raised)',
  '--normal-text': 'var(--ink)',
  '--normal-border': 'var(--field-line)',
  '--border-radius': 'var(--radius-control)',
  fontFamily: 'inherit',
} as CSSProperties;

/** What shows notices, and says when it does. */
export default function Toaster({ notices, onShown }: ToasterProps) {
  useEffect(() => {
    for (const { kind, id, title, text } of notices) {
      if (kind === 'overlay') {
        toast.message(title, { description: text, ...OVERLAY });
      } else {
        toast[kind](title, { description: text, id });
      }
    }
    if (notices.length > 0) {
      onShown();
    }
  }, [notices, onShown]);
  return (
    <Corner
      containerAriaLabel="Notifications"
      hotkey={['altKey', 'KeyT']}
      position="bottom-right"
      visibleToasts={SHOWN_AT_ONCE}
      duration={SHOWN_FOR}
      style={LOOK}
      toastOptions={{ classNames: { description: 'text-ink-2!' } }}
    />
  );
}
