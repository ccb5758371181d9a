import { defineConfig } from 'vitest/config';
import { VISIBLE_TIMEOUT_MS } from './frontends/shell/tests/engines/engine.ts';

/** Tests that run the build, the compiler or another runner. */
const NIGHTLY = 'frontends/build/{asyncapi,rebrand,type-contract}.test.ts';

export default defineConfig({
  test: {
    // A forgotten `.only` would silently skip the rest of its file.
    allowOnly: false,
    projects: [
      {
        define: { REMOTE_VERSION: '"under test"' },
        test: {
          name: 'unit',
          include: [
            'frontends/*/src/**/*.test.{ts,tsx}',
            'frontends/*/drawing/**/*.test.ts',
            'frontends/**/build/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', NIGHTLY],
          // A file that needs a DOM says so in its first line: `@vitest-environment happy-dom`.
          environment: 'node',
          // A worker loads React and the DOM once, which takes a quarter of the time. Tests reset
          // the state of modules by `vi.resetModules`.
          isolate: false,
          // Timers are simulated, but imports take real time on a busy machine.
          testTimeout: 30_000,
          setupFiles: ['frontends/kit/testing/setup.ts'],
        },
      },
      // The HTML validator takes seconds for its first page on a busy machine.
      {
        test: {
          name: 'site',
          include: ['frontends/*/tests/site/**/*.test.ts'],
          // A worker reads each page of the built site once.
          isolate: false,
          // After the unit tests, because Vitest starts a worker for each file of parallel projects.
          sequence: { groupOrder: 1 },
          testTimeout: 30_000,
        },
      },
      { test: { name: 'nightly', include: [NIGHTLY], testTimeout: 60_000 } },
      // Against a running stack: `npm run test:engines`.
      {
        test: {
          name: 'engines',
          include: ['frontends/*/tests/engines/**/*.test.ts'],
          globalSetup: 'frontends/shell/tests/engines/engines.ts',
          fileParallelism: false,
          expect: { poll: { timeout: VISIBLE_TIMEOUT_MS } },
          testTimeout: 90_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
