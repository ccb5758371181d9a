import Validator from '@adobe/structured-data-validator';
import WebAutoExtractor from '@marbec/web-auto-extractor';
import { HtmlValidate } from 'html-validate';
import { expect, test } from '../../../kit/testing/browser.ts';

// What machines read of the site: its HTML, its structured data, its links, its map.

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:document', 'html-validate:a11y'],
  rules: {
    // React's own ids begin with an underscore, which HTML allows.
    'valid-id': ['error', { relaxed: true }],
    // All files are of our own origin.
    'require-sri': 'off',
  },
});

test('every page of the sitemap is valid HTML whose structured data a validator accepts', async ({
  request,
}) => {
  const pages = await pagesOf(await (await request.get('/sitemap.xml')).text());
  expect(pages.length).toBeGreaterThan(15);
  const types = new Set<string>();
  for (const path of pages) {
    const answer = await request.get(path);
    expect(answer.status(), path).toBe(200);
    const html = await answer.text();
    const report = await validator.validateString(html);
    const faults = report.results.flatMap(({ messages }) =>
      messages.map(({ ruleId, message, selector }) => `${ruleId}: ${message} (${selector})`),
    );
    expect(faults, path).toEqual([]);

    const data = new WebAutoExtractor({ addLocation: true }).parse(html);
    for (const type of Object.keys(data.jsonld)) {
      types.add(type);
    }
    if (path === '/') {
      expect(data.jsonld['Organization']).toMatchObject([{ foundingDate: '2024' }]);
    }
    const issues = await new Validator().validate(data);
    expect(
      issues.filter(({ severity }) => severity === 'ERROR'),
      path,
    ).toEqual([]);
  }
  expect([...types].toSorted()).toEqual([
    'Article',
    'BreadcrumbList',
    'FAQPage',
    'JobPosting',
    'Organization',
  ]);
});

test('no link of ours leads nowhere', async ({ request, browser, stack }) => {
  const pages = await pagesOf(await (await request.get('/sitemap.xml')).text());
  const context = await browser.newContext({ javaScriptEnabled: false });
  const reader = await context.newPage();
  const links = new Set<string>();
  const anchors = new Map<string, Set<string>>();
  for (const path of pages) {
    await reader.goto(stack.site + path);
    for (const href of await reader.locator('a[href]').evaluateAll(hrefsOf)) {
      links.add(href);
    }
    const ids = await reader.locator('[id]').evaluateAll(all => all.map(({ id }) => id));
    anchors.set(path, new Set(ids));
  }
  for (const link of links) {
    const { origin, pathname, hash } = new URL(link);
    if (origin !== stack.site) {
      continue;
    }
    expect((await request.get(pathname)).status(), link).toBe(200);
    if (hash) {
      expect(anchors.get(pathname)?.has(decodeURIComponent(hash.slice(1))), link).toBe(true);
    }
  }
  await context.close();
});

test('each page says where it is, what it is called and how its preview looks', async ({
  request,
  page,
}) => {
  const pages = await pagesOf(await (await request.get('/sitemap.xml')).text());
  const titles = new Set<string>();
  for (const path of pages) {
    await page.goto(path);
    titles.add(await page.title());
    const content = (name: string) =>
      page.locator(`meta[property="${name}"]`).getAttribute('content');
    expect(await content('og:url')).toBe(`https://oculant.example${path}`);
    expect(await content('og:title')).toBe(await page.title());
    const picture = new URL((await content('og:image')) ?? 'missing:').pathname;
    expect((await request.get(picture)).headers()['content-type'], picture).toMatch(/^image\//);
  }
  expect(titles.size).toBe(pages.length);
});

test('the feed names all articles, and the other signposts are there', async ({ request }) => {
  const feed = await (await request.get('/blog/feed.xml')).text();
  const pages = await pagesOf(await (await request.get('/sitemap.xml')).text());
  for (const path of pages.filter(candidate => candidate.startsWith('/blog/'))) {
    expect(feed).toContain(`https://oculant.example${path}"`);
  }
  for (const file of [
    '/robots.txt',
    '/site.webmanifest',
    '/.well-known/security.txt',
    '/favicon.svg',
  ]) {
    expect((await request.get(file)).status(), file).toBe(200);
  }
});

async function pagesOf(sitemap: string): Promise<string[]> {
  return [...sitemap.matchAll(/<loc>([^<]+)/g)].map(([, url]) => new URL(url ?? '').pathname);
}

function hrefsOf(links: Element[]): string[] {
  return links.filter(link => link instanceof HTMLAnchorElement).map(link => link.href);
}
