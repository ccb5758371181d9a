import { defineConfig } from '@playwright/test';
import site from '../../../../playwright.config.ts';

/** `npm run test:back-forward-cache`: of its own, because it needs the whole browser. */
export default defineConfig({
  ...site,
  testDir: '.',
  outputDir: '../../../../target/playwright',
  projects: [{ name: 'back-forward-cache' }],
});
