import type { ComponentProps } from 'react';
import { useEffect, useRef } from 'react';
import { useWasPrerendered } from './use-hydrated.ts';

/** Fraction of an element that must be in the viewport, or of the viewport that it must fill where it is higher. */
const THRESHOLD = 0.1;
/** The highest that is revealed on time, in heights of the viewport. */
const HIGHEST = 20;

/** Fades and slides an element in when it is scrolled into view, `delayMs` later. */
export function useReveal<Element extends HTMLElement>(delayMs?: number) {
  const ref = useRef<Element>(null);
  // What was in the page's HTML has been shown for long.
  const entrance = useWasPrerendered() ? undefined : 'arriving';
  useEffect(() => {
    const element = ref.current;
    if (!element || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      return;
    }
    if (delayMs !== undefined) {
      // Not by an attribute in the page's HTML, which our Content Security Policy forbids.
      element.style.setProperty('--reveal-delay', `${delayMs}ms`);
    }
    // The browser tells all places once it has laid the page out: asking for them here would make it do so at once.
    observer ??= new IntersectionObserver(updateReveal, { threshold: THRESHOLDS });
    observer.observe(element);
    return () => observer?.unobserve(element);
  }, [delayMs]);
  return { ref, 'data-reveal': entrance, 'data-reveal-delay': delayMs };
}

const THRESHOLDS = Array.from({ length: HIGHEST }, (_, at) => THRESHOLD / (at + 1));

/** Observer shared by all elements: each of its own would cost the browser as much. */
let observer: IntersectionObserver | undefined;

/** Hides what is below the viewport at first, and reveals it once enough of it is in the viewport. */
function updateReveal(entries: IntersectionObserverEntry[], observer: IntersectionObserver) {
  for (const { target, boundingClientRect, rootBounds, intersectionRatio } of entries) {
    const { top, height } = boundingClientRect;
    const viewportHeight = rootBounds?.height ?? innerHeight;
    const isHidden = target.getAttribute('data-reveal') === 'hidden';
    if (!isHidden && top >= viewportHeight) {
      target.setAttribute('data-reveal', 'hidden');
    } else if (!isHidden) {
      observer.unobserve(target);
    } else if (intersectionRatio >= THRESHOLD * Math.min(1, viewportHeight / height)) {
      target.setAttribute('data-reveal', 'shown');
      observer.unobserve(target);
    }
  }
}

/** Fades and slides its content in when it is scrolled into view, `delayMs` later. */
export function Reveal({ delayMs, ...rest }: ComponentProps<'div'> & { delayMs?: number }) {
  return <div {...rest} {...useReveal<HTMLDivElement>(delayMs)} />;
}
