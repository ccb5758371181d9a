import { expect, test } from 'vitest';
import { LENGTH_SECONDS } from '../../scenes/evening.ts';
import { positionAfter, REWIND_SECONDS } from './playback.ts';

test('playback rewinds, runs in real time, stops at the end', () => {
  expect(positionAfter(0)).toBe(LENGTH_SECONDS);
  expect(positionAfter(REWIND_SECONDS / 2)).toBeCloseTo(LENGTH_SECONDS / 2);
  expect(positionAfter(REWIND_SECONDS)).toBe(0);
  expect(positionAfter(REWIND_SECONDS + 1)).toBeCloseTo(1);
  expect(positionAfter(REWIND_SECONDS + LENGTH_SECONDS + 60)).toBe(LENGTH_SECONDS);
});
