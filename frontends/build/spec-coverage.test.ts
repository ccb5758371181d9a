import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { frontends, root } from './file-paths.ts';

// What is listed here is run, as long as nothing is skipped: `cargo xtask test` runs all that the runners list, and both
// refuse a forgotten `only`.

/** A test, as its runner lists it. */
interface Case {
  file: string;
  title: string;
}

/** A suite of Playwright's report, as far as it is read here. */
interface Suite {
  title: string;
  file: string;
  specs: { title: string; tests: { expectedStatus: string }[] }[];
  suites?: Suite[];
}

const sources = [frontends, join(root, 'services'), join(root, 'crates')].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => !/node_modules|\bdist\b|\btarget\b/.test(file))
    .map(file => join(folder, file)),
);
let cases: Case[];

beforeAll(() => {
  cases = [...vitestCases(), ...playwrightCases(), ...rustCases()];
}, 120_000);

test('every statement of the table names cases that there are', () => {
  const rows = readFileSync(join(root, 'docs/spec-coverage.md'), 'utf8')
    .split('\n')
    .filter(line => /^\|.*\|$/.test(line) && !/^\|\s*-|shown by/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows.flatMap(row => {
    const shown = row.split('|').at(-2) ?? '';
    const names = Array.from(shown.matchAll(/`([^`]+)`/g), match => match[1] ?? '');
    return names.length === 0 ? [row] : names.filter(name => !cases.some(isNamed(name)));
  });
  expect(missing).toEqual([]);
});

test('a case that there is not is missed', () => {
  expect(cases.some(isNamed('retry.test.ts: three retries, one second doubling'))).toBe(true);
  for (const name of [
    'retry.test.ts: three retries',
    'retry.test.ts',
    'shell/browser/home: three retries, one second doubling',
    'gateway/answers: a_robot_is_ignored',
  ]) {
    expect(cases.some(isNamed(name)), name).toBe(false);
  }
});

test('no test is skipped, put off, expected to fail or run alone', () => {
  const left = /\b(?:test|it|describe)\.(?:skip|todo|fixme|fails|only|skipIf|runIf)\b|#\[ignore/;
  const tests = sources.filter(file => /\.(?:test|setup)\.tsx?$|\.rs$/.test(file));
  expect(tests.length).toBeGreaterThan(100);
  const own = join(frontends, 'build/spec-coverage.test.ts');
  expect(tests.filter(file => file !== own && left.test(readFileSync(file, 'utf8')))).toEqual([]);
});

/**
 * `shell/browser/home: …` is a case of `frontends/shell/tests/browser`, `gateway/answers: …` one of a service, and where
 * only a file is named, it is beside the code. `…` stands for whatever varies or is left out, and so may the section be.
 */
function isNamed(name: string): (candidate: Case) => boolean {
  const at = name.indexOf(': ');
  const [place, wanted] = at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 2)];
  const pattern = wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.+');
  const title = new RegExp(`^(?:.* > )?${pattern}(?: \\(sections? [^)]*\\))?$`);
  return candidate => isAt(candidate.file, place) && title.test(candidate.title);
}

function isAt(file: string, place: string): boolean {
  const [part, level, name] = place.split('/');
  if (name) {
    return file === `frontends/${part}/tests/${level}/${name}.test.ts`;
  }
  return level ? file === `services/${part}/tests/it/${level}.rs` : basename(file) === part;
}

function vitestCases(): Case[] {
  const folder = mkdtempSync(join(tmpdir(), 'cases-'));
  const list = join(folder, 'vitest.json');
  run('vitest', ['list', '--project', 'unit', '--project', 'site', `--json=${list}`]);
  const listed: { file: string; name: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  rmSync(folder, { recursive: true });
  return listed.map(({ file, name }) => ({ file: relative(root, file), title: name }));
}

function playwrightCases(): Case[] {
  const report: { suites: Suite[] } = JSON.parse(
    run('playwright', ['test', '--list', '--reporter=json']),
  );
  return report.suites.flatMap(casesOf);
}

function casesOf({ file, specs, suites = [] }: Suite): Case[] {
  const run = specs.filter(spec => spec.tests.some(one => one.expectedStatus !== 'skipped'));
  const own = run.map(({ title }) => ({ file: `frontends/${file}`, title }));
  return [...own, ...suites.flatMap(casesOf)];
}

function rustCases(): Case[] {
  const files = sources.filter(file => /\/tests\/it\/\w+\.rs$/.test(file));
  return files.flatMap(file =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(/#\[(?:tokio::)?test[^\n]*\n(?:async )?fn (\w+)/g),
      ([, title = '']) => ({ file: relative(root, file), title }),
    ),
  );
}

/** Runs a tool of the project, and says what it printed. */
function run(tool: string, options: readonly string[]): string {
  return execFileSync(process.execPath, [join(root, 'node_modules/.bin', tool), ...options], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
