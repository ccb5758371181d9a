import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StaticRouter } from '@site/kit/static-router.ts';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import Design from './design.tsx';

const kit = join(import.meta.dirname, '../../../kit/src');
/** What has no look of its own, and whole pages. */
const UNSEEN = [
  ...['honeypot', 'lazy-area', 'page-meta', 'structured-data', 'footer-marker', 'link'],
  ...['message-page', 'refused-page'],
];

test('the living page shows every primitive of the kit, in both themes', () => {
  const html = renderToString(
    <StaticRouter location="/design">
      <Design />
    </StaticRouter>,
  );
  const names = readdirSync(kit)
    .filter(file => file.endsWith('.tsx') && !UNSEEN.includes(file.replace('.tsx', '')))
    .flatMap(file =>
      Array.from(
        readFileSync(join(kit, file), 'utf8').matchAll(/export function ([A-Z]\w+)/g),
        match => match[1] ?? '',
      ),
    );
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    expect(html.split(name).length - 1, name).toBeGreaterThanOrEqual(2);
  }
  expect(html).toContain('class="light');
  expect(html).toContain('class="dark');
});
