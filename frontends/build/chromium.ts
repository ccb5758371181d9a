import type { LaunchOptions } from '@playwright/test';

/** How the browser of tests and pictures is started: the system's own, which asks nothing of the outside. */
export const CHROMIUM: LaunchOptions = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
