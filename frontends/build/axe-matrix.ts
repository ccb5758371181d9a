import type { Browser } from '@playwright/test';
import { chromium } from '@playwright/test';
import {
  OPEN_STATES,
  showTheme,
  VIEWPORT_HEIGHT_PX,
  VIEWPORT_WIDTHS_PX,
  violationsOf,
} from './accessibility.ts';
import { CHROMIUM } from './chromium.ts';

const DEVICES = Object.keys(VIEWPORT_WIDTHS_PX) as (keyof typeof VIEWPORT_WIDTHS_PX)[];
const THEMES = ['light', 'dark'] as const;

/** A page as it is, or with something open in it. */
type State = Pick<(typeof OPEN_STATES)[number], 'name' | 'route' | 'only'> &
  Partial<Pick<(typeof OPEN_STATES)[number], 'open'>>;

/** Violations that axe finds on routes and in their open states, in both themes, on a phone and on a desktop. */
export async function axeMatrix(site: string, routes: readonly string[]): Promise<string[]> {
  const states: State[] = [
    ...routes.map(route => ({ name: 'as it is', route })),
    ...OPEN_STATES.filter(({ route }) => routes.includes(pathOf(route))),
  ];
  const browser = await chromium.launch(CHROMIUM);
  const found: string[] = [];
  for (const state of states) {
    for (const device of DEVICES.filter(device => !state.only || state.only === device)) {
      found.push(...(await axeViolationsIn(browser, site, state, device)));
    }
  }
  await browser.close();
  return found;
}

async function axeViolationsIn(
  browser: Browser,
  site: string,
  { name, route, open }: State,
  device: keyof typeof VIEWPORT_WIDTHS_PX,
): Promise<string[]> {
  // Not `browser.newPage`: axe opens a page of its own beside it.
  const visitor = await browser.newContext({
    viewport: { width: VIEWPORT_WIDTHS_PX[device], height: VIEWPORT_HEIGHT_PX },
    reducedMotion: 'reduce',
  });
  const page = await visitor.newPage();
  await page.goto(site + route, { waitUntil: 'networkidle' });
  await open?.(page);
  const found: string[] = [];
  for (const theme of THEMES) {
    await showTheme(page, theme);
    const violations = await violationsOf(page);
    found.push(...violations.map(fault => `${route}, ${name}, ${theme}, ${device}: ${fault}`));
  }
  await visitor.close();
  return found;
}

function pathOf(route: string): string {
  return new URL(route, 'http://localhost').pathname;
}
