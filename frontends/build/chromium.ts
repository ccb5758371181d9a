import type { LaunchOptions } from '@playwright/test';

/**
 * Launch options for tests and screenshots: the system's Chromium without background requests. The headless
 * shell takes half the CPU time of the full browser.
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
