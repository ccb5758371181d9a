import { gateway } from '../../../kit/testing/gateway.ts';
import type { ModifiedBuild } from '../../../kit/testing/modified-builds.ts';
import { modifiedBuild } from '../../../kit/testing/modified-builds.ts';
import { expect, hydrated, openWithout, test } from '../../../kit/testing/playwright-fixtures.ts';
import { reportsOf, untilReported } from '../../../kit/testing/reports.ts';

const ends: (() => void)[] = [];
test.afterEach(() => {
  for (const end of ends.splice(0).reverse()) {
    end();
  }
});

test('a remote with other shared versions in range loads', async ({ page }) => {
  const site = await served('kit-0.1.7');
  await page.goto(`${site}/blog`);
  await hydrated(page.getByRole('region', { name: 'Latest Articles' }));
  await page.getByRole('link', { name: 'Technology', exact: true }).click();
  await expect(page.getByText('2 articles in Technology')).toBeVisible();
  await page.getByRole('article').first().getByRole('link').click();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
});

test('a remote requiring React 20 costs only its area', async ({ page }) => {
  const site = await served('react-20');
  const reports = reportsOf(page);
  await page.clock.install();
  await openWithout(page, 'blog', `${site}/blog`);
  await untilReported(page, reports, { remote: 'blog', reason: 'broken' });
  await expect(page.getByText('This part of the site did not load')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Latest Articles' })).toBeVisible();
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
});

async function served(name: ModifiedBuild): Promise<string> {
  const program = await gateway(modifiedBuild(name));
  ends.push(program.stop);
  return program.site;
}
