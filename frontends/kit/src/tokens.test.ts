import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { describe, expect, test } from 'vitest';
import type { Theme } from '../drawing/tokens.ts';
import { colour, colours } from '../drawing/tokens.ts';

interface Colour {
  parseString: (css: string) => void;
}

/** axe's colour functions, which its types omit. */
interface Arithmetic {
  Color: new () => Colour;
  getContrast: (behind: Colour, before: Colour) => number;
}

const { Color, getContrast }: Arithmetic = Reflect.get<object, string>(axe, 'commons').color;

/** Backgrounds against which most colours are checked. */
const SURFACES = ['paper', 'raised', 'sunk'];

/** Text needs 7:1 (WCAG 2.2, 1.4.6). */
const TEXT = {
  ink: SURFACES,
  'ink-2': SURFACES,
  'seen-ink': SURFACES,
  'alert-ink': SURFACES,
  'good-ink': SURFACES,
  // The main buttons.
  'on-seen': ['seen'],
};

/** Recognisable parts of controls need 3:1 (WCAG 2.2, 1.4.11). */
const PARTS = {
  ring: SURFACES,
  'field-line': SURFACES,
  // The border of an invalid field.
  alert: SURFACES,
  // A progress bar on its track.
  'seen-ink': ['line'],
};

/** Decoration and drawings need no contrast. Drawings have text alternatives. */
const DECORATION = [
  ...['line', 'seen', 'face-t', 'face-l', 'face-r', 'stroke', 'road', 'cone'],
  ...['on-alert', 'lit', 'screen', 'figure'],
];

const THEMES: readonly Theme[] = ['light', 'dark'];

test.each(THEMES)('every colour of the %s theme has a known purpose', theme => {
  const judged = new Set([TEXT, PARTS].flatMap(Object.keys).concat(SURFACES, DECORATION));
  expect([...colours[theme].keys()].toSorted()).toEqual([...judged].toSorted());
});

describe.each(THEMES)('in the %s theme', theme => {
  test.each(Object.entries(TEXT))('text in %s has a contrast of 7:1', (ink, surfaces) => {
    expect(paler(theme, ink, surfaces, 7)).toEqual([]);
  });

  test.each(Object.entries(PARTS))('parts in %s have a contrast of 3:1', (part, surfaces) => {
    expect(paler(theme, part, surfaces, 3)).toEqual([]);
  });
});

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

const frontends = join(import.meta.dirname, '../..');
const stylesheets = sources('.css');

test('tokens.css has only tokens, and theme.css only refers to them', () => {
  const tokens = stylesheets.get('kit/src/tokens.css') ?? '';
  const others = /^ *(?:@(?!media print).*|(?!--|color-scheme)[\w-]+: .*)$/gm;
  expect(tokens.match(others) ?? []).toEqual([]);
  const named = stylesheets.get('kit/src/theme.css')?.matchAll(/^ {2}--.*: (.*);$/gm) ?? [];
  const values = Array.from(named, ([, value = '']) => value);
  expect(values.length).toBeGreaterThan(30);
  expect(values.filter(value => !/^(?:var\(--[\w-]+\)|initial)$/.test(value))).toEqual([]);
});

test('no other stylesheet has raw colours or font sizes', () => {
  const raw = /#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)\(|font(?:-size)?: .*\d(?:px|r?em)/gi;
  const others = [...stylesheets].filter(([file]) => !file.endsWith('/tokens.css'));
  expect(
    others.flatMap(([file, css]) => css.match(raw)?.map(found => [file, found]) ?? []),
  ).toEqual([]);
});

test('no class has a raw value', () => {
  const raw = /[\w-]+-\[[^\]='"]*\d[^\]='"]*\]/g;
  const found = [...sources('.tsx')].flatMap(([file, text]) =>
    (text.match(raw) ?? []).map(name => [file, name]),
  );
  expect(found).toEqual([]);
});

function sources(ending: string): ReadonlyMap<string, string> {
  const files = ['blog', 'careers', 'kit', 'shell'].flatMap(part =>
    readdirSync(join(frontends, part, 'src'), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith(ending))
      .map(file => `${part}/src/${file}`),
  );
  return new Map(files.map(file => [file, readFileSync(join(frontends, file), 'utf8')]));
}
