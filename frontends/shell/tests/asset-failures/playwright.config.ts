import { defineConfig } from '@playwright/test';
import site from '../../../../playwright.config.ts';

/** `npm run test:asset-failures`: of its own, because it takes minutes. */
export default defineConfig({
  ...site,
  testDir: '.',
  outputDir: '../../../../target/playwright',
  projects: [{ name: 'asset-failures' }],
});
