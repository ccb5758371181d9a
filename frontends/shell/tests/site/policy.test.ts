import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dist } from '../../../build/file-paths.ts';
import { builtRoutes, builtText } from '../../../kit/testing/built-site.ts';

const { scriptHashes, styleHashes } = builtRoutes();
const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
const pages = files
  .filter(file => file.endsWith('.html'))
  .map(file => ({ file, html: builtText(file) }));

function hashesIn(html: string, element: RegExp): string[] {
  return Array.from(
    html.matchAll(element),
    ([, content = '']) => `sha256-${createHash('sha256').update(content).digest('base64')}`,
  );
}

test('no element has a `style` attribute or event handler', () => {
  expect(pages.length).toBeGreaterThan(40);
  const found = pages.flatMap(({ file, html }) =>
    Array.from(html.matchAll(/<[a-z][^<>]*\s(style|on[a-z]+)=/g), match => `${file}: ${match[0]}`),
  );
  expect(found).toEqual([]);
});

test('the policy names every style and script that stands in a page', () => {
  const styles = pages.flatMap(({ html }) => hashesIn(html, /<style>(.*?)<\/style>/gs));
  const scripts = pages.flatMap(({ html }) => hashesIn(html, /<script>(.*?)<\/script>/gs));
  expect(new Set(scripts)).toEqual(new Set(scriptHashes));
  expect([...new Set(styles)].filter(hash => !styleHashes.includes(hash))).toEqual([]);
  expect(styles.length).toBeGreaterThan(20);
});

test('a script that stands in a page is one of these, or data', () => {
  const others = pages.flatMap(({ html }) =>
    Array.from(html.matchAll(/<(?:script|style) ([^>]*)>/g), ([, attributes]) => attributes),
  );
  expect(new Set(others)).toEqual(new Set(['type="application/ld+json"']));
});

test('drawings have no `style` attributes and no scripts', () => {
  const drawings = files.filter(file => file.endsWith('.svg'));
  expect(drawings.length).toBeGreaterThan(20);
  const refused = /<[a-z][^<>]*\s(?:style|on[a-z]+)=|<script|<style [^>]*>/i;
  expect(drawings.filter(file => refused.test(builtText(file)))).toEqual([]);
});
