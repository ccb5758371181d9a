import type { LaunchOptions } from '@playwright/test';

/**
 * Launch options of the browser for tests and pictures: the system's, which asks nothing of the outside. The shell of
 * Chromium that has no window to draw needs half the processor time of the whole browser for the same pages.
 */
export const CHROMIUM: LaunchOptions = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
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
