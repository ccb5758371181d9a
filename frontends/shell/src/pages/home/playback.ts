import { LENGTH_SECONDS } from '../../scenes/evening.ts';

/** How long it takes to go back to the begin, from the end that is shown first. */
export const REWIND_SECONDS = 0.3;

/** The shown time of the recording so long after it has begun to play. */
export function positionAfter(elapsedSeconds: number): number {
  return elapsedSeconds < REWIND_SECONDS
    ? LENGTH_SECONDS * (1 - elapsedSeconds / REWIND_SECONDS)
    : Math.min(elapsedSeconds - REWIND_SECONDS, LENGTH_SECONDS);
}
