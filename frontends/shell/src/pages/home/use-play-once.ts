import type { RefObject } from 'react';
import { useEffect, useRef } from 'react';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';
import { positionAfter, REWIND_SECONDS } from './playback.ts';

/** Part of the picture that must be in the viewport. */
const THRESHOLD = 0.5;

let hasPlayed = false;

/**
 * Plays the recording by itself when it is first seen, once for as long as the page is open, unless the visitor wants no
 * motion. Returns how to stop it, for the visitor who takes over.
 */
export function usePlayOnce(
  stage: RefObject<Element | null>,
  isReady: boolean,
  show: (seconds: number) => void,
): () => void {
  const stop = useRef<() => void>(undefined);
  useEffect(() => {
    const seen = stage.current;
    if (!(isReady && seen) || hasPlayed || prefersReducedMotion()) {
      return;
    }
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) {
          observer.disconnect();
          hasPlayed = true;
          stop.current = play(show);
        }
      },
      { threshold: THRESHOLD },
    );
    observer.observe(seen);
    stop.current = () => observer.disconnect();
    return () => stop.current?.();
  }, [stage, isReady, show]);
  return () => stop.current?.();
}

/** Shows the recording from frame to frame. Returns how to stop it. */
function play(show: (seconds: number) => void): () => void {
  const start = performance.now();
  let frame = requestAnimationFrame(next);

  function next() {
    const elapsed = (performance.now() - start) / 1000;
    show(positionAfter(elapsed));
    if (elapsed < REWIND_SECONDS + LENGTH_SECONDS) {
      frame = requestAnimationFrame(next);
    }
  }
  return () => cancelAnimationFrame(frame);
}

function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
