import axe from 'axe-core';
import { describe, expect, test } from 'vitest';
import type { Theme } from '../drawing/tokens.ts';
import { colour, colours } from '../drawing/tokens.ts';

interface Colour {
  parseString: (css: string) => void;
}

/** axe's own arithmetic, which its types leave out. */
interface Arithmetic {
  Color: new () => Colour;
  getContrast: (behind: Colour, before: Colour) => number;
}

const { Color, getContrast }: Arithmetic = Reflect.get<object, string>(axe, 'commons').color;

/** What stands on any of them is judged on each. */
const SURFACES = ['paper', 'raised', 'sunk'];

/** What is read: 7:1 (WCAG 2.2, 1.4.6). */
const TEXT = {
  ink: SURFACES,
  'ink-2': SURFACES,
  'seen-ink': SURFACES,
  'alert-ink': SURFACES,
  'good-ink': SURFACES,
  // The main buttons.
  'on-seen': ['seen'],
};

/** What a control is known by: 3:1 (1.4.11). */
const PARTS = {
  ring: SURFACES,
  'field-line': SURFACES,
  // The border of a field that is wrong.
  alert: SURFACES,
  // A progress bar on its track.
  'seen-ink': ['line'],
};

/** What nobody has to make out: it divides, adorns or is a drawing's, whose text alternative says what is in it. */
const DECORATION = [
  ...['line', 'seen', 'face-t', 'face-l', 'face-r', 'stroke', 'road', 'cone'],
  ...['on-alert', 'lit', 'screen', 'figure'],
];

const THEMES: readonly Theme[] = ['light', 'dark'];

test.each(THEMES)('every colour of the %s theme is judged by what it is for', theme => {
  const judged = new Set([TEXT, PARTS].flatMap(Object.keys).concat(SURFACES, DECORATION));
  expect([...colours[theme].keys()].toSorted()).toEqual([...judged].toSorted());
});

describe.each(THEMES)('in the %s theme', theme => {
  test.each(Object.entries(TEXT))('text in %s has 7:1', (ink, surfaces) => {
    expect(paler(theme, ink, surfaces, 7)).toEqual([]);
  });

  test.each(Object.entries(PARTS))('what is marked by %s has 3:1', (part, surfaces) => {
    expect(paler(theme, part, surfaces, 3)).toEqual([]);
  });
});

/** The surfaces on which something differs less than it has to. */
function paler(theme: Theme, name: string, surfaces: readonly string[], least: number) {
  return surfaces
    .map(surface => ({
      surface,
      contrast: getContrast(read(theme, surface), read(theme, name)),
    }))
    .filter(({ contrast }) => contrast < least);
}

function read(theme: Theme, name: string): Colour {
  const parsed = new Color();
  parsed.parseString(colour(theme, name));
  return parsed;
}
