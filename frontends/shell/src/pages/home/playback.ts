import type { RefCallback } from 'react';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';

/** A time in seconds, or playback. */
export type Shown = number | 'playing';

/** The end shows first, so playback begins with a rewind. */
export const REWIND_SECONDS = 0.3;
export const PLAYING_SECONDS = REWIND_SECONDS + LENGTH_SECONDS;

export function positionAfter(elapsedSeconds: number): number {
  return elapsedSeconds < REWIND_SECONDS
    ? LENGTH_SECONDS * (1 - elapsedSeconds / REWIND_SECONDS)
    : Math.min(elapsedSeconds - REWIND_SECONDS, LENGTH_SECONDS);
}

/** https://drafts.csswg.org/css-easing-2/#the-linear-easing-function */
export const PLAYING_EASING = `linear(1, 0 ${(100 * REWIND_SECONDS) / PLAYING_SECONDS}%, 1)`;

/** The element has the style `before` until `atSeconds`. */
export function playedUntil(atSeconds: number, before: Keyframe): RefCallback<Element> {
  return played([
    { ...before, offset: 0, easing: 'step-end' },
    { ...before, offset: atSeconds / LENGTH_SECONDS, easing: 'step-start' },
  ]);
}

/**
 * Animates an element with the recording. The browser runs the animation, because a script for each
 * frame keeps a phone busy.
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
