import type { RefCallback } from 'react';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';

/** What is shown of the recording: a time of it, in seconds, or how it plays. */
export type Shown = number | 'playing';

/** How long it takes to go back to the begin, from the end that is shown first. */
export const REWIND_SECONDS = 0.3;
/** How long the recording plays in all. */
export const PLAYING_SECONDS = REWIND_SECONDS + LENGTH_SECONDS;

/** The shown time of the recording so long after it has begun to play. */
export function positionAfter(elapsedSeconds: number): number {
  return elapsedSeconds < REWIND_SECONDS
    ? LENGTH_SECONDS * (1 - elapsedSeconds / REWIND_SECONDS)
    : Math.min(elapsedSeconds - REWIND_SECONDS, LENGTH_SECONDS);
}

/** Back from the end, then on from the begin: https://drafts.csswg.org/css-easing-2/#the-linear-easing-function */
export const PLAYING_EASING = `linear(1, 0 ${(100 * REWIND_SECONDS) / PLAYING_SECONDS}%, 1)`;

/** Ref of what looks otherwise until the recording has come so far. */
export function playedUntil(atSeconds: number, before: Keyframe): RefCallback<Element> {
  return played([
    { ...before, offset: 0, easing: 'step-end' },
    { ...before, offset: atSeconds / LENGTH_SECONDS, easing: 'step-start' },
  ]);
}

/**
 * Ref of what moves as the recording plays, by keyframes from its begin to its end. The browser moves it by itself: a script
 * that ran for each frame would keep a phone busy all the while.
 */
export function played(keyframes: Keyframe[]): RefCallback<Element> {
  return element => {
    const animation = element?.animate(keyframes, {
      duration: 1000 * PLAYING_SECONDS,
      easing: PLAYING_EASING,
      fill: 'both',
    });
    return () => animation?.cancel();
  };
}
