import { HEIGHT, OPEN_STATES, WIDTHS } from '../../../build/accessibility.ts';
import { expectAccessible, test } from '../../../kit/testing/browser.ts';

test.describe('where something is open', () => {
  test.use({ colorScheme: 'light' });

  for (const { name, route, only = 'desktop', open } of OPEN_STATES) {
    test(`axe finds nothing in ${name}`, async ({ page, said }) => {
      await page.setViewportSize({ width: WIDTHS[only], height: HEIGHT });
      await page.goto(route);
      await open(page);
      await expectAccessible(page);
      // A form that fails says so there, too: `contact` and `errors` show what exactly.
      said.splice(0);
    });
  }
});
