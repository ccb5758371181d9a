import { defineConfig } from '@playwright/test';
import { CHROMIUM } from './frontends/build/chromium.ts';
import type { Options } from './frontends/kit/testing/playwright-fixtures.ts';

/** Browser tests run against the running stack: `cargo xtask test` starts one of its own. */
export default defineConfig<object, Options>({
  testDir: 'frontends',
  projects: [
    // Sites from changed sources, which are built once and shared; first, because it takes longest.
    { name: 'modified-builds', testMatch: 'kit/testing/modified-builds.setup.ts' },
    {
      name: 'site',
      testMatch: '*/tests/browser/**/*.test.ts',
      testIgnore: '**/{outages,release,shared-versions}.test.ts',
      // As a project that depends on this one it would have all of this one's tests run, whatever `--grep` asks for.
      teardown: 'outages',
    },
    {
      name: 'releases',
      testMatch: '*/tests/browser/**/{release,shared-versions}.test.ts',
      dependencies: ['modified-builds'],
      teardown: 'outages',
    },
    // They stop parts of the stack that all tests share.
    { name: 'outages', testMatch: '*/tests/browser/**/outages.test.ts' },
  ],
  outputDir: 'target/playwright',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  // On a machine that does other things, too.
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: {
    launchOptions: {
      ...CHROMIUM,
      // Drawings stand still in tests. They are moved in software, by half a core while one is in view, and ask a file's
      // own media query, which a page's emulated media (below) do not reach.
      args: [...(CHROMIUM.args ?? []), '--force-prefers-reduced-motion'],
    },
    // A test about motion says otherwise.
    contextOptions: { reducedMotion: 'reduce' },
    locale: 'en-US',
    trace: 'on-first-retry',
  },
});
