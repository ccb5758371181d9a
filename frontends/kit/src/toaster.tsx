import type { CSSProperties } from 'react';
import { useEffect } from 'react';
import { Toaster as SonnerToaster, toast } from 'sonner';
import type { ToasterProps } from './toast.ts';
import { OVERLAY_DURATION_MS } from './toast.ts';

const MAX_VISIBLE_TOASTS = 3;
const TOAST_DURATION_MS = 4000;
/** The specification's second toast system, which shows one toast at a time. */
const OVERLAY = { id: 'overlay', duration: OVERLAY_DURATION_MS };

/** Our tokens, by sonner's names. */
const LOOK = {
  '--normal-bg': 'var(--raised)',
  '--normal-text': 'var(--ink)',
  '--normal-border': 'var(--field-line)',
  '--border-radius': 'var(--radius-control)',
  fontFamily: 'inherit',
} as CSSProperties;

export default function Toaster({ toasts, onShown }: ToasterProps) {
  useEffect(() => {
    for (const { kind, id, title, text } of toasts) {
      if (kind === 'overlay') {
        toast.message(title, { description: text, ...OVERLAY });
      } else {
        toast[kind](title, { description: text, id });
      }
    }
    if (toasts.length > 0) {
      onShown();
    }
  }, [toasts, onShown]);
  return (
    <SonnerToaster
      containerAriaLabel="Notifications"
      hotkey={['altKey', 'KeyT']}
      position="bottom-right"
      visibleToasts={MAX_VISIBLE_TOASTS}
      duration={TOAST_DURATION_MS}
      style={LOOK}
      toastOptions={{ classNames: { description: 'text-ink-2!' } }}
    />
  );
}
