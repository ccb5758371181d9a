import { expect, test } from 'vitest';
import { excessOf, FIRST_FLIGHT } from '../../../build/budgets.ts';
import { firstViewOf, htmlBytesOf } from '../../../build/first-view.ts';
import { NOT_FOUND, SAMPLES } from '../../../build/sample-paths.ts';
import { builtPage, mappedPages } from '../../../kit/testing/built-site.ts';

const PAGES = [...mappedPages(), SAMPLES.impact, ...NOT_FOUND];

test.each(PAGES)('%s keeps the budgets of bytes for its first view', route => {
  const { file, document } = builtPage(route);
  const view = firstViewOf(file, document);
  // What every page needs weighs so much: less is a sign that the count has lost sight of it.
  expect(view.script).toBeGreaterThan(90);
  expect(view.all).toBeGreaterThan(view.script + 40);
  expect(excessOf(route, view)).toEqual([]);
});

test.each(PAGES)('the HTML of %s comes in the first flight', route => {
  expect(htmlBytesOf(builtPage(route).file)).toBeLessThanOrEqual(FIRST_FLIGHT);
});

test('a route that exceeds a budget is named', () => {
  expect(excessOf('/about', { script: 121, all: 251 })).toEqual([
    '/about: 121 kB of JavaScript, allowed are 120',
    '/about: 251 kB in all, allowed are 250',
  ]);
  expect(excessOf('/careers', { script: 127, all: 250 })).toEqual([]);
});
