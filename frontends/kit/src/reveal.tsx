import type { ComponentProps } from 'react';
import { useEffect, useRef } from 'react';
import { useWasPrerendered } from './use-hydrated.ts';

/** Fraction of an element, or of the viewport if the element is taller, that must be in view. */
const THRESHOLD = 0.1;
/** Elements up to this many viewports tall are revealed at the threshold, taller ones later. */
const HIGHEST = 20;

/** Fades and slides an element in, `delayMs` after it scrolls into view. */
export function useReveal<Element extends HTMLElement>(delayMs?: number) {
  const ref = useRef<Element>(null);
  // The visitor has already seen prerendered content.
  const entrance = useWasPrerendered() ? undefined : 'arriving';
  useEffect(() => {
    const element = ref.current;
    if (!element || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      return;
    }
    if (delayMs !== undefined) {
      // Set here, because our Content Security Policy forbids style attributes in the HTML.
      element.style.setProperty('--reveal-delay', `${delayMs}ms`);
    }
    // The observer reports positions after the layout. Reading them here would force a layout.
    observer ??= new IntersectionObserver(updateReveal, { threshold: THRESHOLDS });
    observer.observe(element);
    return () => observer?.unobserve(element);
  }, [delayMs]);
  return { ref, 'data-reveal': entrance, 'data-reveal-delay': delayMs };
}

const THRESHOLDS = Array.from({ length: HIGHEST }, (_, at) => THRESHOLD / (at + 1));

/** Shared by all elements, because each observer has a cost in the browser. */
let observer: IntersectionObserver | undefined;

/** Hides elements that are below the viewport at first, and reveals each once enough of it is in view. */
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

export function Reveal({ delayMs, ...rest }: ComponentProps<'div'> & { delayMs?: number }) {
  return <div {...rest} {...useReveal<HTMLDivElement>(delayMs)} />;
}
