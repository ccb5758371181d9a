import { audited, faultsOf, launchForAudit } from '../../../build/audit.ts';
import { ROUTES } from '../../../build/routes.ts';
import { expect, test } from '../../../kit/testing/browser.ts';

// The budgets that hold on any machine: bytes, accessibility, best practices, SEO, a layout that stands still.

for (const route of ROUTES) {
  test(`${route} keeps the budgets that Lighthouse can see on any machine`, async ({ stack }) => {
    const browser = await launchForAudit();
    try {
      expect(faultsOf(await audited(stack.site, route, browser.port))).toEqual([]);
    } finally {
      browser.kill();
    }
  });
}
