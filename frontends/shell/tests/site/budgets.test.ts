import { expect, test } from 'vitest';
import { excessOf, FIRST_FLIGHT_BYTES } from '../../../build/budgets.ts';
import { firstViewOf, htmlBytesOf } from '../../../build/first-view.ts';
import { NOT_FOUND, SAMPLES } from '../../../build/sample-paths.ts';
import { builtPage, sitemapPages } from '../../../kit/testing/built-site.ts';

const PAGES = [...sitemapPages(), SAMPLES.impact, ...NOT_FOUND];

test.each(PAGES)('%s keeps the budgets of bytes for its first view', route => {
  const { file, document } = builtPage(route);
  const view = firstViewOf(file, document);
  // What every page needs weighs so much: less is a sign that the count has lost sight of it.
  expect(view.scriptKb).toBeGreaterThan(80);
  expect(view.totalKb).toBeGreaterThan(view.scriptKb + 40);
  expect(excessOf(route, view)).toEqual([]);
});

test.each(PAGES)('the HTML of %s comes in the first flight', route => {
  expect(htmlBytesOf(builtPage(route).file)).toBeLessThanOrEqual(FIRST_FLIGHT_BYTES);
});

test('a route that exceeds a budget is named', () => {
  expect(excessOf('/about', { scriptKb: 101, totalKb: 251 })).toEqual([
    '/about: 101 kB of JavaScript, allowed are 100',
    '/about: 251 kB in all, allowed are 250',
  ]);
  expect(excessOf('/careers', { scriptKb: 126, totalKb: 250 })).toEqual([]);
});
