import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { root } from './file-paths.ts';

// docs/spec-coverage.md names the tests that show each statement of the specification.

/** A test, as its runner lists it. */
interface Case {
  file: string;
  title: string;
}

/** A suite of Playwright's report. */
interface Suite {
  title: string;
  file: string;
  specs: { title: string }[];
  suites?: Suite[];
}

/** Playwright's report, as far as it is read here. */
interface Report {
  config: { rootDir: string };
  suites: Suite[];
}

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
  run('vitest', ['list', '--project=!engines', `--json=${list}`]);
  const listed: { file: string; name: string }[] = JSON.parse(readFileSync(list, 'utf8'));
  rmSync(folder, { recursive: true });
  return listed.map(({ file, name }) => ({ file: relative(root, file), title: name }));
}

function playwrightCases(): Case[] {
  const configs = ['playwright.config.ts', 'frontends/shell/tests/nightly/playwright.config.ts'];
  return configs.flatMap(file => {
    const { config, suites }: Report = JSON.parse(
      run('playwright', ['test', '--config', file, '--list', '--reporter=json']),
    );
    return suites.flatMap(suite => casesOf(suite, config.rootDir));
  });
}

function casesOf({ file, specs, suites = [] }: Suite, folder: string): Case[] {
  const own = specs.map(({ title }) => ({ file: relative(root, join(folder, file)), title }));
  return [...own, ...suites.flatMap(suite => casesOf(suite, folder))];
}

function rustCases(): Case[] {
  const files = ['services', 'crates', 'tools'].flatMap(folder =>
    globSync(`${folder}/*/tests/it/*.rs`, { cwd: root }),
  );
  return files.flatMap(file =>
    Array.from(
      readFileSync(join(root, file), 'utf8').matchAll(
        /#\[(?:tokio::)?test[^\n]*\n(?:async )?fn (\w+)/g,
      ),
      ([, title = '']) => ({ file, title }),
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
