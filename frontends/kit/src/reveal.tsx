import type { ComponentProps, CSSProperties, RefObject } from 'react';
import { useEffect, useRef } from 'react';
import { useHydrated } from './use-hydrated.ts';

/** How much of it must be in view, or of the view be filled by it where it is higher. */
const THRESHOLD = 0.1;

/** What an element needs to be revealed. */
interface Revealed<Element extends HTMLElement> {
  ref: RefObject<Element | null>;
  'data-reveal': string | undefined;
}

/** Fades and slides an element in when it is scrolled into view. */
export function useReveal<Element extends HTMLElement>(): Revealed<Element> {
  const ref = useRef<Element>(null);
  // What was in the page's HTML is in view for long.
  const entrance = useRef(useHydrated() ? 'arriving' : undefined);
  useEffect(() => {
    const element = ref.current;
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const { top, height } = element?.getBoundingClientRect() ?? new DOMRect();
    if (!element || isStill || top < innerHeight) {
      return;
    }
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) {
          element.dataset['reveal'] = 'shown';
          observer.disconnect();
        }
      },
      { threshold: THRESHOLD * Math.min(1, innerHeight / height) },
    );
    let isOver = false;
    // Once all have read where they are: a change between two of them would lay the page out anew for each.
    queueMicrotask(() => {
      if (!isOver) {
        element.dataset['reveal'] = 'hidden';
        observer.observe(element);
      }
    });
    return () => {
      isOver = true;
      observer.disconnect();
    };
  }, []);
  return { ref, 'data-reveal': entrance.current };
}

/** Fades and slides its content in when it is scrolled into view, `delay` milliseconds later. */
export function Reveal({ delay, style, ...rest }: ComponentProps<'div'> & { delay?: number }) {
  return <div {...rest} {...useReveal<HTMLDivElement>()} style={{ ...style, ...after(delay) }} />;
}

/** The style that delays what is revealed. */
export function after(delay: number | undefined): CSSProperties | undefined {
  return delay === undefined ? undefined : ({ '--reveal-delay': `${delay}ms` } as CSSProperties);
}
