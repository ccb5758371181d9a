import {
  OPEN_STATES,
  VIEWPORT_HEIGHT_PX,
  VIEWPORT_WIDTHS_PX,
} from '../../../kit/testing/accessibility.ts';
import { expect, expectAccessible, test } from '../../../kit/testing/playwright-fixtures.ts';

/** These states log messages, because their form fails on purpose. */
const SAID: Readonly<Record<string, readonly unknown[]>> = {
  'an open question and a failed form': [expect.stringContaining('422'), 'Look again.'],
};

test.describe('open states', () => {
  test.use({ colorScheme: 'light' });

  for (const { name, route, only = 'desktop', open } of OPEN_STATES) {
    test(`axe finds nothing in ${name}`, async ({ page, consoleMessages }) => {
      await page.setViewportSize({ width: VIEWPORT_WIDTHS_PX[only], height: VIEWPORT_HEIGHT_PX });
      await page.goto(route);
      await open(page);
      await expectAccessible(page);
      expect(consoleMessages.splice(0)).toEqual(SAID[name] ?? []);
    });
  }
});
