import { expect, test } from 'vitest';
import { closedFrom, dayAt, dayText, isOpen, openOn, validThrough } from './open-positions.ts';
import type { Position } from './positions.ts';
import { positions } from './positions.ts';

function position(given: Partial<Position>): Position {
  const [first] = positions;
  if (!first) {
    throw new Error('There is no position');
  }
  return { ...first, ...given };
}

test('a position closes at midnight in India', () => {
  const closing = position({ closes: '2027-03-31' });
  const midnight = Date.parse('2027-03-31T18:30:00Z');
  expect(isOpen(closing, dayAt(midnight - 1))).toBe(true);
  expect(isOpen(closing, dayAt(midnight))).toBe(false);
  expect(closedFrom(closing)).toEqual({ since: midnight / 1000, day: '2027-04-01' });
  expect(Date.parse(validThrough(closing))).toBe(midnight - 1000);
});

test('positions are open until they close', () => {
  expect(openOn('2025-04-30')).toEqual(positions);
  expect(openOn('9999-12-31')).toEqual([]);
});

test('days are formatted for readers', () => {
  expect(dayText('2025-04-30')).toBe('April 30, 2025');
  expect(dayText('2027-12-01')).toBe('December 1, 2027');
});

test.each(positions.map(each => [each.slug, each] as const))(
  '%s has valid days in order and a unique slug',
  (slug, { opened, closes }) => {
    for (const day of [opened, closes]) {
      expect(new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10)).toBe(day);
    }
    expect(opened < closes).toBe(true);
    expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(['apply', 'applied', 'not-applied']).not.toContain(slug);
    expect(positions.filter(other => other.slug === slug)).toHaveLength(1);
  },
);
