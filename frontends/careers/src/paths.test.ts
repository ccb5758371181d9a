import { expect, test } from 'vitest';
import { goneOn } from './paths.ts';

test('closed pages render for closing day, or today if later', () => {
  const closes = (today: string) => goneOn(today).map(({ shownBy }) => shownBy.split('?on=')[1]);
  const closingDays = closes('2025-01-01');
  expect(closingDays).toContain('2027-07-01');
  const later = '2027-12-24';
  expect(closes(later)).toEqual(closingDays.map(day => (day && day > later ? day : later)));
  expect(closes(later)).toContain(later);
});
