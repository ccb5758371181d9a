import type { RefObject } from 'react';
import { useEffect, useRef } from 'react';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';
import type { Shown } from './playback.ts';
import { PLAYING_EASING, PLAYING_SECONDS, positionAfter } from './playback.ts';

const THRESHOLD = 0.5;

let hasPlayed = false;

/** Playback, or the wait for it. */
interface Player {
  stop: () => void;
  tellNow?: () => void;
}

/**
 * Plays the recording once per page load, when it is in view, unless the visitor prefers reduced motion.
 * `show` sets the drawing, `tell` the time of the text. Call `stop` when the visitor takes over.
 */
export function usePlayOnce(
  stage: RefObject<Element | null>,
  isReady: boolean,
  show: (shown: Shown) => void,
  tell: (seconds: number) => void,
): RefObject<Player | undefined> {
  const player = useRef<Player>(undefined);
  useEffect(() => {
    const seen = stage.current;
    if (!(isReady && seen) || hasPlayed || !mayMove()) {
      return;
    }
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(entry => entry.isIntersecting)) {
          observer.disconnect();
          hasPlayed = true;
          player.current = play(show, tell);
        }
      },
      { threshold: THRESHOLD },
    );
    observer.observe(seen);
    player.current = { stop: () => observer.disconnect() };
    return () => player.current?.stop();
  }, [stage, isReady, show, tell]);
  return player;
}

function play(show: (shown: Shown) => void, tell: (seconds: number) => void): Player {
  const start = performance.now();
  const tellNow = () => tell(positionAfter((performance.now() - start) / 1000));
  show('playing');
  const end = setTimeout(() => {
    show(LENGTH_SECONDS);
    tell(LENGTH_SECONDS);
  }, 1000 * PLAYING_SECONDS);
  return { stop: () => clearTimeout(end), tellNow };
}

function mayMove(): boolean {
  return (
    !matchMedia('(prefers-reduced-motion: reduce)').matches &&
    CSS.supports('animation-timing-function', PLAYING_EASING)
  );
}
