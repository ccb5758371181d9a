import { expect, test } from '../../../kit/testing/playwright-fixtures.ts';
import { NOT_FOUND } from '../../../kit/testing/sample-paths.ts';
import { pathsIn } from '../../../kit/testing/sitemap.ts';
import { HEADINGS } from '../headings.ts';

test.describe('responses', { tag: '@hosting' }, () => {
  test('every page of the sitemap and its preview exist', async ({ request }) => {
    const pages = pathsIn(await (await request.get('/sitemap.xml')).text());
    expect(pages.length).toBeGreaterThan(15);
    for (const path of pages) {
      const answer = await request.get(path);
      expect(answer.status(), path).toBe(200);
      expect(answer.headers()['content-type'], path).toBe('text/html; charset=utf-8');
      expect(answer.headers()['content-security-policy'], path).toContain("script-src 'self'");
      const preview = /<meta property="og:image" content="([^"]+)"/.exec(await answer.text())?.[1];
      const picture = await request.get(new URL(preview ?? 'missing:').pathname);
      expect(picture.headers()['content-type'], preview ?? path).toMatch(/^image\//);
    }
  });

  for (const route of NOT_FOUND) {
    test(`${route} returns 404 and a page with links`, async ({ request }) => {
      const answer = await request.get(route);
      expect(answer.status()).toBe(404);
      const html = await answer.text();
      expect(html).toMatch(new RegExp(`<h1[^>]*>${HEADINGS[route]}</h1>`));
      expect(html).toContain('<footer');
    });
  }

  test('a service’s overview name redirects to its page', async ({ request }) => {
    const answer = await request.get('/services/retail', { maxRedirects: 0 });
    expect(answer.status()).toBe(308);
    expect(answer.headers()['location']).toBe('/services/retail-wholesale-high-risk');
  });

  test('robots.txt, manifest, security.txt, icon and feed are served', async ({ request }) => {
    for (const file of [
      '/robots.txt',
      '/site.webmanifest',
      '/.well-known/security.txt',
      '/favicon.svg',
      '/blog/feed.xml',
      '/blog/feed.json',
    ]) {
      expect((await request.get(file)).status(), file).toBe(200);
    }
  });
});
