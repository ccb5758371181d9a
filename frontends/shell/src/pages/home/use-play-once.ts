import type { RefObject } from 'react';
import { useEffect, useRef } from 'react';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';
import type { Shown } from './playback.ts';
import { PLAYING_EASING, PLAYING_SECONDS, positionAfter } from './playback.ts';

/** Part of the picture that must be in the viewport. */
const THRESHOLD = 0.5;

let hasPlayed = false;

/** What plays, or waits until it is seen. */
interface Player {
  stop: () => void;
  /** Tells the present time of the recording. */
  tellNow?: () => void;
}

/**
 * Plays the recording by itself when it is first seen, once for as long as the page is open, unless the visitor wants no
 * motion: `show` says what is drawn, `tell` of which time the words are. Returns the player, which is ended
 * when the visitor takes over.
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

/** Plays the recording. */
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

/** Whether the visitor wants motion, and the browser can play it. */
function mayMove(): boolean {
  return (
    !matchMedia('(prefers-reduced-motion: reduce)').matches &&
    CSS.supports('animation-timing-function', PLAYING_EASING)
  );
}
