import type { Position } from './positions.ts';
import { positions } from './positions.ts';

/** UTC offset of India, where a position's days begin and end (ISO 8601). */
const OFFSET = '+05:30';
const OFFSET_MS = 5.5 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** Day in India at a Unix time in milliseconds, as `2025-04-30`. */
export function dayAt(time: number): string {
  return new Date(time + OFFSET_MS).toISOString().slice(0, 10);
}

export function isOpen({ closes }: Position, day: string): boolean {
  return day <= closes;
}

export function openOn(day: string): readonly Position[] {
  return positions.filter(position => isOpen(position, day));
}

/** Last second of the last day (ISO 8601). */
export function validThrough({ closes }: Position): string {
  return `${closes}T23:59:59${OFFSET}`;
}

/** `since` is a Unix time in seconds, and `day` begins then. */
export function closedFrom({ closes }: Position): { since: number; day: string } {
  const since = Date.parse(`${closes}T00:00:00${OFFSET}`) + DAY_MS;
  return { since: since / 1000, day: dayAt(since) };
}

/** Avoids `Intl`, whose first use blocks a phone for 60 ms. */
export function dayText(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return `${MONTHS[(month ?? 1) - 1]} ${date}, ${year}`;
}
