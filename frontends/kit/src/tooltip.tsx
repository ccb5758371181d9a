import type { ReactNode } from 'react';
import { useEffect, useRef, useState } from 'react';

/** Milliseconds that the pointer rests before a tooltip opens. */
const OPEN_DELAY = 700;
/** Within so many milliseconds after one has closed the next opens at once. */
const SKIP_DELAY = 300;

/** When the last tooltip of the page closed, on the page's clock. */
let lastClosed = Number.NEGATIVE_INFINITY;

/**
 * Says beside a control without words what its accessible name says. Stays while it is pointed at, and goes
 * with Escape (WCAG 2.2, success criterion 1.4.13).
 */
export function Tooltip({ words, children }: { words: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  function openAfter(delay: number) {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOpen(true), delay);
  }

  function close() {
    clearTimeout(timer.current);
    if (isOpen) {
      lastClosed = performance.now();
    }
    setOpen(false);
  }

  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') {
        setOpen(false);
      }
    };
    window.addEventListener('keydown', closeOnEscape);
    return () => window.removeEventListener('keydown', closeOnEscape);
  }, [isOpen]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the control inside is what is focused and pressed
    <span
      className="relative inline-flex"
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') {
          openAfter(performance.now() - lastClosed < SKIP_DELAY ? 0 : OPEN_DELAY);
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
          {words}
        </span>
      ) : null}
    </span>
  );
}
