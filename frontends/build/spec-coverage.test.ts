import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { frontends, root } from './places.ts';

const files = [frontends, join(root, 'services')].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => !file.includes('node_modules') && !file.includes('dist'))
    .map(file => join(folder, file)),
);

test('every row of the table names tests that there are', () => {
  const table = readFileSync(join(root, 'docs/spec-coverage.md'), 'utf8');
  const rows = table
    .split('\n')
    .filter(line => /^\|.*\|$/.test(line) && !/^\|\s*-|shown by/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) {
    const shown = row.split('|').at(-2) ?? '';
    const names = Array.from(shown.matchAll(/`([^`]+)`/g), match => match[1] ?? '');
    expect(names, row).not.toEqual([]);
    for (const name of names) {
      expect(files.some(isNamed(name)), `${name} in: ${row}`).toBe(true);
    }
  }
});

/** `shell: home` is a browser test or one of the built site, `gateway: answers` one of a service, anything else a file. */
function isNamed(name: string): (file: string) => boolean {
  const [place, test] = name.split(': ');
  return file =>
    test
      ? file.endsWith(`${place}/tests/browser/${test}.test.ts`) ||
        file.endsWith(`${place}/tests/site/${test}.test.ts`) ||
        file.endsWith(`${place}/tests/it/${test}.rs`)
      : basename(file) === basename(name);
}
