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

const FAILED = 'This part of the site did not load';

test('a remote built with other versions of what is shared, within the declared range, loads', async ({
  page,
}) => {
  const site = await served('kit-0.1.7');
  await page.goto(`${site}/blog`);
  await hydrated(page.getByRole('region', { name: 'Latest Articles' }));
  await page.getByRole('link', { name: 'Technology', exact: true }).click();
  await expect(page.getByText('2 articles in Technology')).toBeVisible();
  await page.getByRole('article').first().getByRole('link').click();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
});

for (const [name, wanted] of [
  ['react-20', 'React ^20.0.0'],
  ['kit-0.2', '@site/kit ^0.2.0'],
] as const) {
  test(`a remote that wants ${wanted}, which the shell has not, costs only its own area`, async ({
    page,
  }) => {
    const site = await served(name);
    const reports = reportsOf(page);
    await page.clock.install();
    await openWithout(page, 'blog', `${site}/blog`);
    await untilReported(page, reports, { remote: 'blog', reason: 'broken' });
    await expect(page.getByText(FAILED)).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Latest Articles' })).toBeVisible();
    await page.getByRole('link', { name: 'About', exact: true }).first().click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  });
}

test('a remote that throws while it is shown costs only its own area', async ({
  page,
  consoleMessages,
}) => {
  const site = await served('blog-throws');
  const report = page.waitForRequest('**/api/remote-failure');
  await page.goto(site);
  const area = page.locator('[data-area="blog"]');
  await area.scrollIntoViewIfNeeded();
  await expect(area.getByText(FAILED)).toBeVisible();
  expect((await report).postDataJSON()).toEqual({ remote: 'blog', reason: 'broken' });
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await area.getByRole('button', { name: 'Retry' }).click();
  await expect(area.getByText(FAILED)).toBeVisible();
  await page.getByRole('link', { name: 'About', exact: true }).first().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
  expect(consoleMessages.splice(0).join()).toContain('a fault of the blog');
});

async function served(name: ModifiedBuild): Promise<string> {
  const program = await gateway(modifiedBuild(name));
  ends.push(program.stop);
  return program.site;
}
