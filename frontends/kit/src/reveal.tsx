import type { ComponentProps, CSSProperties } from 'react';
import { useEffect, useRef } from 'react';
import { useHydrated } from './use-hydrated.ts';

/** How much of it must be in view. */
const THRESHOLD = 0.1;

/** Fades and slides its content in when it is scrolled into view, `delay` milliseconds later. */
export function Reveal({ delay = 0, style, ...rest }: ComponentProps<'div'> & { delay?: number }) {
  const box = useRef<HTMLDivElement>(null);
  // What was in the page's HTML is in view for long.
  const entrance = useRef(useHydrated() ? 'arriving' : undefined);
  useEffect(() => {
    const element = box.current;
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (!element || isStill || element.getBoundingClientRect().top < innerHeight) {
      return;
    }
    element.dataset['reveal'] = 'hidden';
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) {
          element.dataset['reveal'] = 'shown';
          observer.disconnect();
        }
      },
      { threshold: THRESHOLD },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const wait = { '--reveal-delay': `${delay}ms` } as CSSProperties;
  return <div {...rest} ref={box} data-reveal={entrance.current} style={{ ...style, ...wait }} />;
}
