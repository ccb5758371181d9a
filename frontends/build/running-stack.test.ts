import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { root } from './file-paths.ts';
import { runningStack, stackFile } from './running-stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'stack-'));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('a stack that was started for a command is found by the absolute path that it hands on', () => {
  const file = join(folder, 'stack.json');
  writeFileSync(file, JSON.stringify({ site: 'http://localhost:1' }));
  vi.stubEnv('STACK_FILE', file);
  expect(runningStack().site).toBe('http://localhost:1');
});

test('without one, the usual stack is found', () => {
  vi.stubEnv('STACK_FILE', undefined);
  expect(stackFile()).toBe(join(root, 'target/stack.json'));
});
