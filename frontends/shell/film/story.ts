import type { Actor } from '../src/scenes/actors.ts';

export const LENGTH_SECONDS = 14;

export const actors: readonly Actor[] = [
  {
    label: 'person 0.97',
    foundAtSeconds: 1.6,
    path: [
      { atSeconds: 0, x: 3, y: 8.8 },
      { atSeconds: 5, x: 3, y: 5 },
      { atSeconds: 14, x: 3, y: 2.4 },
    ],
  },
  {
    label: 'staff 0.99',
    foundAtSeconds: 2.4,
    path: [
      { atSeconds: 0, x: 8.1, y: 6.7 },
      { atSeconds: 9, x: 8.1, y: 6.7 },
      { atSeconds: 12.5, x: 6.3, y: 4.2 },
    ],
  },
  {
    label: 'person 0.98',
    alarm: { fromSeconds: 6.2, label: 'concealing 0.91' },
    foundAtSeconds: 3.2,
    path: [
      { atSeconds: 0, x: 8.6, y: 1 },
      { atSeconds: 4.5, x: 5.7, y: 3 },
      { atSeconds: 14, x: 5.6, y: 3.2 },
    ],
  },
];

/** Lines of text in the film. They are also its captions. */
export const lines: readonly {
  fromSeconds: number;
  toSeconds: number;
  status: string;
  words: string;
}[] = [
  { fromSeconds: 0, toSeconds: 3, status: 'cam-04 · live', words: 'Your cameras already see it.' },
  {
    fromSeconds: 3,
    toSeconds: 6,
    status: 'cam-04 · 3 people',
    words: 'They see everyone who comes in.',
  },
  {
    fromSeconds: 6,
    toSeconds: 9,
    status: 'cam-04 · 3 people · 1 alert',
    words: 'They see what a hand does.',
  },
  { fromSeconds: 9, toSeconds: 12, status: 'alert sent · 0.8 s', words: 'Now someone notices.' },
  {
    fromSeconds: 12,
    toSeconds: 14,
    status: 'cam-04 · staff on the way',
    words: 'While it still matters.',
  },
];
