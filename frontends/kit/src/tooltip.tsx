import type { ReactNode } from 'react';
import { useEffect, useRef, useState } from 'react';
import { useEscape } from './use-escape.ts';

const OPEN_DELAY_MS = 700;
/** Within this time after a tooltip closed, the next opens at once. */
const SKIP_DELAY_MS = 300;

let lastClosed = Number.NEGATIVE_INFINITY;

/**
 * Tooltip of a control without text: it shows the accessible name. It stays while the pointer is over it, and
 * closes with Escape (WCAG 2.2, success criterion 1.4.13).
 */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  const { isOpen, openAfter, close } = useTooltip();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the control inside is what is focused and pressed
    <span
      className="relative inline-flex"
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') {
          openAfter(performance.now() - lastClosed < SKIP_DELAY_MS ? 0 : OPEN_DELAY_MS);
        }
      }}
      onPointerLeave={close}
      onPointerDown={close}
      onFocus={({ target }) => {
        if (target.matches(':focus-visible')) {
          openAfter(0);
        }
      }}
      onBlur={close}
    >
      {children}
      {isOpen ? (
        <span
          aria-hidden="true"
          className="absolute top-full left-1/2 z-20 whitespace-nowrap rounded-control bg-ink px-2.5 py-1.5 text-paper text-small [translate:-50%]"
          data-tooltip=""
        >
          {text}
        </span>
      ) : null}
    </span>
  );
}

function useTooltip() {
  const [isOpen, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  function openAfter(delayMs: number) {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(true), delayMs);
  }

  function close() {
    clearTimeout(timer.current);
    if (isOpen) {
      lastClosed = performance.now();
    }
    setOpen(false);
  }

  useEffect(() => () => clearTimeout(timer.current), []);
  useEscape(() => setOpen(false));
  return { isOpen, openAfter, close };
}
