import { defineConfig } from '@playwright/test';
import site from '../../../../playwright.config.ts';
import { remotes } from '../../../build/remotes.ts';
import type { Options } from '../../../kit/testing/playwright-fixtures.ts';

/**
 * Browser tests for the night, against a running stack. `npm run measure` runs the first two projects. The last one needs
 * the browser with a window.
 */
export default defineConfig<object, Options>({
  ...site,
  testDir: '.',
  outputDir: '../../../../target/playwright/nightly',
  projects: [
    { name: 'lighthouse', testMatch: 'lighthouse.test.ts', workers: 1 },
    { name: 'axe', testMatch: 'axe.test.ts' },
    { name: 'asset-failures', testMatch: '{asset-failures,late-start}.test.ts' },
    // A remote without the shell, by its development server, which all its tests share.
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
