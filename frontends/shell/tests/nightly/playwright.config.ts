import { defineConfig } from '@playwright/test';
import site from '../../../../playwright.config.ts';
import { remotes } from '../../../build/remotes.ts';
import type { Options } from '../../../kit/testing/playwright-fixtures.ts';

/**
 * These tests need a running stack. `npm run measure` runs the first two projects. The last one needs the
 * full browser.
 */
export default defineConfig<object, Options>({
  ...site,
  testDir: '.',
  outputDir: '../../../../target/playwright/nightly',
  projects: [
    { name: 'lighthouse', testMatch: 'lighthouse.test.ts', workers: 1 },
    { name: 'axe', testMatch: 'axe.test.ts' },
    { name: 'asset-failures', testMatch: '{asset-failures,late-start}.test.ts' },
    // A remote's tests share its development server.
    ...remotes.map(({ name }) => ({
      name: `${name}-standalone`,
      testDir: `../../../${name}/tests/browser`,
      grep: /@standalone/,
      use: { standalone: name },
      workers: 1,
    })),
    { name: 'back-forward-cache', testMatch: 'back-forward-cache.test.ts' },
  ],
});
