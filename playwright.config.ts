import { defineConfig } from '@playwright/test';
import { CHROMIUM } from './frontends/build/chromium.ts';
import { remotes } from './frontends/build/remotes.ts';
import type { Options } from './frontends/kit/testing/browser.ts';

/** Browser tests run against the running stack: `cargo xtask test` starts one of its own. */
export default defineConfig<object, Options>({
  testDir: 'frontends',
  projects: [
    { name: 'site', testMatch: '*/tests/browser/**/*.test.ts', testIgnore: '**/outages.test.ts' },
    // The same tests again, of what a remote shows without the shell.
    ...remotes.map(({ name }) => ({
      name: `${name}-alone`,
      testMatch: `${name}/tests/browser/**/*.test.ts`,
      grepInvert: /@shell/,
      use: { alone: name },
    })),
    // They stop parts of the stack that all tests share.
    { name: 'outages', testMatch: '*/tests/browser/**/outages.test.ts', dependencies: ['site'] },
  ],
  outputDir: 'target/playwright',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  timeout: 60_000,
  reporter: 'list',
  use: { launchOptions: CHROMIUM, locale: 'en-US', trace: 'retain-on-failure' },
});
