import type { Severity } from '@site/kit/drawing/detections.ts';
import type { Actor } from './actors.ts';

// The home page's recording: an evening at a shop's door, in three seconds.

export const LENGTH_SECONDS = 3;

export const STREET = { world: [8.2, 6.3, 2.2], picture: [640, 480] } as const;

export interface EveningActor extends Actor {
  shape: 'person' | 'van' | 'parcel';
  /** Position of the label above or below the box, and the side on which both align. */
  labelPlace: { row: 'above' | 'below'; side: 'start' | 'end' };
}

/** Actors from back to front. Each is present from its first step to its last. */
export const actors: readonly EveningActor[] = [
  {
    shape: 'parcel',
    label: 'parcel 0.96',
    alarm: { fromSeconds: 1.9, label: 'unattended 0.91' },
    foundAtSeconds: 1.74,
    labelPlace: { row: 'below', side: 'start' },
    path: [
      { atSeconds: 1.68, x: 4.6, y: 2.5 },
      { atSeconds: 3, x: 4.6, y: 2.5 },
    ],
  },
  {
    shape: 'person',
    label: 'person 0.97',
    alarm: { fromSeconds: 1.25, label: 'lingering 0.93' },
    foundAtSeconds: 0.62,
    labelPlace: { row: 'above', side: 'start' },
    path: [
      { atSeconds: 0.4, x: 0, y: 3.2 },
      { atSeconds: 0.95, x: 3.8, y: 3 },
      { atSeconds: 1.15, x: 3.8, y: 3 },
      { atSeconds: 1.4, x: 4.7, y: 3.1 },
      { atSeconds: 1.55, x: 4.2, y: 3 },
      { atSeconds: 1.75, x: 4.2, y: 3 },
      { atSeconds: 2.2, x: 0, y: 3.2 },
    ],
  },
  {
    shape: 'person',
    label: 'staff 0.99',
    foundAtSeconds: 2.66,
    labelPlace: { row: 'above', side: 'end' },
    path: [
      { atSeconds: 2.5, x: 0, y: 3.3 },
      { atSeconds: 2.9, x: 2.2, y: 3.3 },
      { atSeconds: 3, x: 2.2, y: 3.3 },
    ],
  },
  {
    shape: 'van',
    label: 'van 0.96',
    foundAtSeconds: 0.12,
    labelPlace: { row: 'above', side: 'start' },
    path: [
      { atSeconds: 0, x: -0.2, y: 4.95 },
      { atSeconds: 0.7, x: 6.4, y: 4.95 },
    ],
  },
  {
    shape: 'van',
    label: 'van 0.95',
    alarm: { fromSeconds: 2.35, label: 'same van 0.95' },
    foundAtSeconds: 2.14,
    labelPlace: { row: 'below', side: 'start' },
    path: [
      { atSeconds: 2.02, x: -0.2, y: 4.95 },
      { atSeconds: 2.5, x: 3.3, y: 4.95 },
      { atSeconds: 3, x: 3.3, y: 4.95 },
    ],
  },
];

export interface Finding {
  atSeconds: number;
  severity: Severity;
  words: string;
}

export const findings: readonly Finding[] = [
  { atSeconds: 0.15, severity: 'seen', words: 'A van drives past' },
  { atSeconds: 1.25, severity: 'alert', words: 'Someone lingers at the door' },
  { atSeconds: 1.9, severity: 'alert', words: 'A parcel stays behind' },
  { atSeconds: 2.35, severity: 'alert', words: 'The van is back: staff are told' },
];

/** Clock time in minutes after 21:00. It is linear between the entries. */
const CLOCK: readonly (readonly [atSeconds: number, minutes: number])[] = [
  [0, 2],
  [0.15, 3],
  [1.25, 14],
  [1.9, 20],
  [2.35, 32],
  [3, 34],
];
const HOUR = 21;
/** For rounding errors of the divisions. */
const TOLERANCE = 1e-9;

export function clockAt(seconds: number): string {
  const next = CLOCK.find(([at]) => at > seconds) ?? CLOCK.at(-1);
  const last = CLOCK.findLast(([at]) => at <= seconds) ?? CLOCK[0];
  const [[from, first], [to, second]] = [last ?? [0, 0], next ?? [0, 0]];
  const fraction = to > from ? (seconds - from) / (to - from) : 0;
  const minutes = Math.floor(first + (second - first) * fraction + TOLERANCE);
  return `${HOUR}:${String(minutes).padStart(2, '0')}`;
}

/** Start of each minute of the clock, in seconds of the recording. */
export const minutes: readonly number[] = CLOCK.flatMap(([from, first], at) => {
  const [to, last] = CLOCK[at + 1] ?? [from, first + 1];
  const length = (to - from) / (last - first);
  return Array.from({ length: last - first }, (_, minute) => from + minute * length);
});

export function noticedUntil(seconds: number): readonly Finding[] {
  return findings.filter(({ atSeconds }) => atSeconds <= seconds);
}
