import type { Position } from './positions.ts';
import { positions } from './positions.ts';

/** Offset of the time zone in which a position's days begin and end: India's (ISO 8601). */
const OFFSET = '+05:30';
const OFFSET_MS = 5.5 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** The day that it is at a time (in milliseconds since 1970), as `2025-04-30`. */
export function dayAt(time: number): string {
  return new Date(time + OFFSET_MS).toISOString().slice(0, 10);
}

/** Whether applications are taken on a day. */
export function isOpen({ closes }: Position, day: string): boolean {
  return day <= closes;
}

/** The positions for which applications are taken on a day. */
export function openOn(day: string): readonly Position[] {
  return positions.filter(position => isOpen(position, day));
}

/** The moment at which a position closes (ISO 8601). */
export function validThrough({ closes }: Position): string {
  return `${closes}T23:59:59${OFFSET}`;
}

/** From when on a position is closed: the moment in seconds since 1970, and the day that begins then. */
export function closedFrom({ closes }: Position): { since: number; day: string } {
  const since = Date.parse(`${closes}T00:00:00${OFFSET}`) + DAY_MS;
  return { since: since / 1000, day: dayAt(since) };
}

/** A day as people read it. Not by `Intl`, for which a phone stands still for 60 ms. */
export function dayText(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return `${MONTHS[(month ?? 1) - 1]} ${date}, ${year}`;
}
