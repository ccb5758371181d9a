/** Seconds that the film lasts. */
export const LENGTH = 14;

/** A place of the world at a time. */
interface Step {
  at: number;
  x: number;
  y: number;
}

/** Someone in the film. */
export interface Actor {
  label: string;
  /** From when on the label says something else, in vermilion. */
  alarm?: { from: number; label: string };
  /** When the machine finds them. */
  found: number;
  path: readonly Step[];
}

/** Who is seen, where they walk, and when the machine finds them. */
export const actors: readonly Actor[] = [
  {
    label: 'person 0.97',
    found: 1.6,
    path: [
      { at: 0, x: 3, y: 8.8 },
      { at: 5, x: 3, y: 5 },
      { at: 14, x: 3, y: 2.4 },
    ],
  },
  {
    label: 'staff 0.99',
    found: 2.4,
    path: [
      { at: 0, x: 8.1, y: 6.7 },
      { at: 9, x: 8.1, y: 6.7 },
      { at: 12.5, x: 6.3, y: 4.2 },
    ],
  },
  {
    label: 'person 0.98',
    alarm: { from: 6.2, label: 'concealing 0.91' },
    found: 3.2,
    path: [
      { at: 0, x: 8.6, y: 1 },
      { at: 4.5, x: 5.7, y: 3 },
      { at: 14, x: 5.6, y: 3.2 },
    ],
  },
];

/** What the film says, and the captions with it. */
export const lines: readonly { from: number; to: number; status: string; words: string }[] = [
  { from: 0, to: 3, status: 'cam-04 · live', words: 'Your cameras already see it.' },
  { from: 3, to: 6, status: 'cam-04 · 3 people', words: 'They see everyone who comes in.' },
  { from: 6, to: 9, status: 'cam-04 · 3 people · 1 alert', words: 'They see what a hand does.' },
  { from: 9, to: 12, status: 'alert sent · 0.8 s', words: 'Now someone notices.' },
  { from: 12, to: 14, status: 'cam-04 · staff on the way', words: 'While it still matters.' },
];
