import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { dist } from '../../../build/places.ts';
import { expect, hydrated, test } from '../../../kit/testing/browser.ts';
import { checkout } from '../../../kit/testing/checkout.ts';
import { gateway } from '../../../kit/testing/gateway.ts';

const ends: (() => void)[] = [];
test.afterEach(() => {
  for (const end of ends.splice(0).reverse()) {
    end();
  }
});

const FAILED = 'This part of the site did not load.';

test('a remote built with other versions of what is shared, within the declared range, loads', async ({
  page,
}) => {
  const site = await siteWithBlog(blog => {
    blog.changeKit(kit => ({ ...kit, version: '0.1.7' }));
  });
  await page.goto(`${site}/blog`);
  await hydrated(page.getByRole('region', { name: 'Latest Articles' }));
  await page.getByRole('button', { name: 'Technology' }).click();
  await expect(page.getByText('2 articles in Technology')).toBeVisible();
  await page.getByRole('article').first().getByRole('link').click();
  await expect(page.getByRole('heading', { name: 'Physics still applies' })).toBeVisible();
});

for (const [wanted, range] of [
  ['react', '^20.0.0'],
  ['@site/kit', '^0.2.0'],
] as const) {
  test(`a remote that wants ${wanted} ${range}, which the shell has not, costs only its own area`, async ({
    page,
    said,
  }) => {
    const site = await siteWithBlog(blog => {
      blog.changeBlog(({ peerDependencies, ...rest }) => ({
        ...rest,
        peerDependencies: { ...peerDependencies, [wanted]: range },
      }));
    });
    await page.goto(`${site}/blog`);
    await expect(page.getByText(FAILED)).toBeVisible({ timeout: 12_000 });
    await expect(page.getByRole('heading', { name: 'Latest Articles' })).toBeVisible();
    await page.getByRole('link', { name: 'About', exact: true }).first().click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Pioneering AI Security');
    said.splice(0);
  });
}

test('a remote that throws while it is shown costs only its own area', async ({ page, said }) => {
  const site = await siteWithBlog(blog =>
    blog.changeSource('blog-teasers.tsx', "throw new Error('a fault of the blog');"),
  );
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
  expect(said.splice(0).join()).toContain('a fault of the blog');
});

type PackageFile = Record<string, unknown> & { peerDependencies?: Record<string, string> };
type Change = (file: PackageFile) => PackageFile;

interface Sources {
  changeBlog: (change: Change) => void;
  changeKit: (change: Change) => void;
  /** Puts a statement at the start of a file's component. */
  changeSource: (file: string, statement: string) => void;
}

/** The built site with a blog from changed sources, which were compiled with the oldest React that the blog allows. */
async function siteWithBlog(change: (sources: Sources) => void) {
  const { folder, remove } = checkout({ react: 'react-oldest' });
  ends.push(remove);
  const changed = (name: string) => (edit: Change) => {
    const file = join(folder, 'frontends', name, 'package.json');
    writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, 'utf8')))));
  };
  function changeSource(name: string, statement: string) {
    const file = join(folder, 'frontends/blog/src', name);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.replace(/(export default function \w+\(\) {)/, `$1 ${statement}`));
  }
  change({ changeBlog: changed('blog'), changeKit: changed('kit'), changeSource });
  const blog = createRequire(join(folder, 'frontends/blog/package.json'));
  expect(blog('react').version).toBe('19.2.0');

  const out = join(folder, 'next');
  execFileSync(process.execPath, [join(folder, 'frontends/build/one.ts'), 'blog'], {
    env: { ...process.env, SITE_OUT: out },
  });
  const site = join(folder, 'site');
  cpSync(dist, site, { recursive: true });
  cpSync(join(out, 'remotes/blog'), join(site, 'remotes/blog'), { recursive: true });
  const served = await gateway(site);
  ends.push(served.stop);
  return served.site;
}
