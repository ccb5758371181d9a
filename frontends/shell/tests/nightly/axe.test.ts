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

// axe with all its rules on every page and in every open state, in both themes, on a phone and on a desktop. What the gateway fills in
// is another test's.

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
      // Other tests say which messages a page may write: a missing page and a refused form do.
      consoleMessages.length = 0;
    });
  }
}
