import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Checkout } from '../kit/testing/checkout.ts';
import { checkout } from '../kit/testing/checkout.ts';

let copy: Checkout;
afterEach(() => copy.remove());

test.each([
  ['no longer exposes a module', 'blog/remote.ts', "'blog-list', ", '', 'shell/src/routes.tsx'],
  [
    'no longer exports its version',
    'careers/src/careers-page.tsx',
    'export const version',
    'const version',
    'shell/src/remote-modules.server.ts',
  ],
  [
    'needs a prop that the shell does not pass',
    'blog/src/blog-list.tsx',
    'export default function BlogList()',
    'export default function BlogList(_: { page: number })',
    'shell/src/remote-modules.server.ts',
  ],
])(
  'type checking finds a remote that %s',
  (_, file, now, then, found) => {
    copy = checkout();
    const changed = join(copy.folder, 'frontends', file);
    const source = readFileSync(changed, 'utf8');
    expect(source).toContain(now);
    writeFileSync(changed, source.replace(now, then));
    const { status, stdout } = spawnSync(
      join(copy.folder, 'node_modules/.bin/tsc'),
      ['--project', 'frontends/tsconfig.json'],
      { cwd: copy.folder, encoding: 'utf8' },
    );
    expect(status).not.toBe(0);
    expect(stdout).toContain(found);
  },
  60_000,
);
