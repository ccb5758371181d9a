import { defineConfig } from '@playwright/test';
import { CHROMIUM } from './frontends/build/chromium.ts';
import type { Options } from './frontends/kit/testing/playwright-fixtures.ts';

/** Browser tests against a running stack. `cargo xtask test` starts its own. */
export default defineConfig<object, Options>({
  testDir: 'frontends',
  projects: [
    // Builds modified sites once, for all tests. First, because it takes longest.
    { name: 'modified-builds', testMatch: 'kit/testing/modified-builds.setup.ts' },
    {
      name: 'site',
      testMatch: '*/tests/browser/**/*.test.ts',
      testIgnore: '**/{outages,release,shared-versions}.test.ts',
      // Not by `dependencies`: they would run all tests of this project, whatever `--grep` selects.
      teardown: 'outages',
    },
    {
      name: 'releases',
      testMatch: '*/tests/browser/**/{release,shared-versions}.test.ts',
      dependencies: ['modified-builds'],
      teardown: 'outages',
    },
    // Last: these tests stop parts of the shared stack.
    { name: 'outages', testMatch: '*/tests/browser/**/outages.test.ts' },
  ],
  outputDir: 'target/playwright',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  // For a busy machine.
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: {
    launchOptions: {
      ...CHROMIUM,
      // No animated drawings: software rendering of one takes half a core. They read the media
      // query of their own file, which the page's emulated media (below) do not change.
      args: [...(CHROMIUM.args ?? []), '--force-prefers-reduced-motion'],
    },
    // Tests of motion override this.
    contextOptions: { reducedMotion: 'reduce' },
    locale: 'en-US',
    trace: 'on-first-retry',
  },
});
