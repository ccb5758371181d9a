import { audited, faultsOf, launchForAudit } from '../../../build/audit.ts';
import { ROUTES } from '../../../build/routes.ts';
import { expect, test } from '../../../kit/testing/browser.ts';

// The budgets that hold on any machine: bytes, accessibility, best practices, SEO, a layout that stands still.

/** A page of the shell, and one of each remote: what they weigh is up to their servers, too. */
const OF_EACH_SERVER = ['/', '/blog/ai-advancements', '/careers'];

for (const route of ROUTES) {
  const tag = OF_EACH_SERVER.includes(route) ? ['@hosting'] : [];
  test(`${route} keeps the budgets that Lighthouse can see on any machine`, { tag }, async ({
    stack,
  }) => {
    const browser = await launchForAudit();
    try {
      expect(faultsOf(await audited(stack.site, route, browser.port))).toEqual([]);
    } finally {
      browser.kill();
    }
  });
}
