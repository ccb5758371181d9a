import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './file-paths.ts';

const folder = mkdtempSync(join(tmpdir(), 'rebrand-'));
const out = join(folder, 'site');
const ours = readFileSync(join(root, 'brand.json'), 'utf8');

beforeAll(() => {
  const theirs = ours
    .replaceAll('Oculant', 'Nightjar')
    .replaceAll('oculant.example', 'nightjar.example')
    .replaceAll('oculant', 'nightjar')
    .replace('+91 44 0000 0000', '+49 30 1234567')
    .replace('Chennai', 'Berlin')
    .replace('"defaultHome": "classic"', '"defaultHome": "impact"');
  writeFileSync(join(folder, 'brand.json'), theirs);
  execFileSync(process.execPath, [join(root, 'frontends/build/site.ts')], {
    env: { ...process.env, SITE_OUT: out, BRAND_FILE: join(folder, 'brand.json') },
  });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

test('a new brand file leaves nothing of the old company', () => {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter(
    entry => entry.isFile() && /\.(html|js|xml|txt|json|webmanifest|css|svg|vtt)$/.test(entry.name),
  );
  expect(files.length).toBeGreaterThan(40);
  const left = files.filter(file =>
    /oculant|\+91 44 0000/i.test(readFileSync(join(file.parentPath, file.name), 'utf8')),
  );
  expect(left.map(({ name }) => name)).toEqual([]);
});

test.each([
  ['index.html', 'Nightjar: Your cameras already see it.'],
  ['index.html', 'AI. DATA. IMPACT.'],
  ['index.html', '"addressLocality":"Berlin"'],
  ['contact.html', 'mailto:hello@nightjar.example'],
  ['contact.html', '+49 30 1234567'],
  ['index.html', 'https://example.com/network/nightjar'],
  ['privacy.html', 'Berlin'],
  ['blog/ai-advancements.html', '<title>AI advancements'],
  ['index.html', '--site-url:"https://nightjar.example"'],
  ['sitemap.xml', 'https://nightjar.example/blog'],
  ['blog/feed.xml', 'Nightjar'],
  ['.well-known/security.txt', 'admin@nightjar.example'],
])('%s shows the new brand: %s', (file, words) => {
  expect(readFileSync(join(out, file), 'utf8').includes(words)).toBe(true);
});
