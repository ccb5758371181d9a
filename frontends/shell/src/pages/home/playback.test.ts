import { expect, test } from 'vitest';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';
import { positionAfter, REWIND_SECONDS } from './playback.ts';

test('it goes back from its end, plays as fast as time passes, and stays at its end', () => {
  expect(positionAfter(0)).toBe(LENGTH_SECONDS);
  expect(positionAfter(REWIND_SECONDS / 2)).toBeCloseTo(LENGTH_SECONDS / 2);
  expect(positionAfter(REWIND_SECONDS)).toBe(0);
  expect(positionAfter(REWIND_SECONDS + 1)).toBeCloseTo(1);
  expect(positionAfter(REWIND_SECONDS + LENGTH_SECONDS + 60)).toBe(LENGTH_SECONDS);
});
