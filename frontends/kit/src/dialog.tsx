import type { ReactNode } from 'react';
import { useEffect, useId, useRef } from 'react';
import { useHeldPage } from './use-held-page.ts';

interface DialogProps {
  title: string;
  state: 'open' | 'closed';
  /** Called when the dialog closes, by the X, Escape or `state`. */
  onClose: () => void;
  children: ReactNode;
}

/** The first match gets the initial focus. Without a match, the content's first button gets it. */
const FIELDS = 'input:not([type=hidden], [tabindex="-1"]), textarea, select';

export function Dialog({ title, state, onClose, children }: DialogProps) {
  const heading = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useHeldPage(state === 'open');
  useEffect(() => {
    if (state === 'open') {
      dialog.current?.showModal();
      const first = content.current?.querySelector<HTMLElement>(FIELDS);
      (first ?? content.current?.querySelector<HTMLElement>('button'))?.focus();
    } else {
      dialog.current?.close();
    }
  }, [state]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      className="m-auto w-full max-w-2xl border border-line bg-raised p-6 text-ink"
    >
      <div className="mb-4 flex items-start justify-between gap-4">
        <h2 id={heading} className="text-heading">
          {title}
        </h2>
        <button
          type="button"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
          className="size-11 shrink-0 cursor-pointer text-subheading"
        >
          ✕
        </button>
      </div>
      <div ref={content}>{state === 'open' ? children : null}</div>
    </dialog>
  );
}
