import { defineConfig } from '@playwright/test';
import site from '../../../../playwright.config.ts';

/**
 * Browser tests that take minutes, against a running stack. `npm run measure` runs the first two. The last one needs the
 * browser with a window.
 */
export default defineConfig({
  ...site,
  testDir: '.',
  outputDir: '../../../../target/playwright/nightly',
  projects: [
    { name: 'lighthouse', testMatch: 'lighthouse.test.ts', workers: 1 },
    { name: 'axe', testMatch: 'axe.test.ts' },
    { name: 'asset-failures', testMatch: '{asset-failures,late-start}.test.ts' },
    { name: 'back-forward-cache', testMatch: 'back-forward-cache.test.ts' },
  ],
});
