import {
  OPEN_STATES,
  showTheme,
  VIEWPORT_HEIGHT_PX,
  VIEWPORT_WIDTHS_PX,
  violationsOf,
} from '../../../kit/testing/accessibility.ts';
import { sitemapPages, unlistedPages } from '../../../kit/testing/built-site.ts';
import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';
import { NOT_FOUND, REFUSED, SAMPLE_PATHS } from '../../../kit/testing/sample-paths.ts';

// All rules, pages and open states, in both themes, on phone and desktop. Another test covers the pages that
// the gateway fills in.

const PAGES = new Set([...sitemapPages(), ...unlistedPages(), ...SAMPLE_PATHS, ...NOT_FOUND]);
for (const path of REFUSED) {
  PAGES.delete(path);
}
const STATES = [
  ...Array.from(PAGES, route => ({ route, name: 'as it is', only: undefined, open: undefined })),
  ...OPEN_STATES,
];

for (const device of ['phone', 'desktop'] as const) {
  for (const { route, name, open } of STATES.filter(({ only }) => !only || only === device)) {
    test(`axe finds nothing on ${route}, ${name}, on a ${device}`, async ({
      page,
      consoleMessages,
    }) => {
      await page.setViewportSize({ width: VIEWPORT_WIDTHS_PX[device], height: VIEWPORT_HEIGHT_PX });
      await page.goto(route);
      await page.waitForLoadState('networkidle');
      await open?.(page);
      for (const theme of ['light', 'dark'] as const) {
        await showTheme(page, theme);
        expect(await violationsOf(page), theme).toEqual([]);
      }
      // A missing page and a refused form log messages, which other tests check.
      consoleMessages.length = 0;
    });
  }
}
