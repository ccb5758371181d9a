import { brand } from '../kit/src/brand.ts';

/** Files by which machines find their way on the site, by name. */
export function signposts(pages: readonly string[], today: Date): Record<string, string> {
  return {
    'sitemap.xml': sitemap(pages),
    'robots.txt': `User-agent: *\nAllow: /\nSitemap: ${brand.siteUrl}/sitemap.xml\n`,
    'site.webmanifest': manifest(),
    '.well-known/security.txt': security(today),
  };
}

/** https://www.sitemaps.org/protocol.html */
function sitemap(pages: readonly string[]): string {
  const urls = pages.map(path => `<url><loc>${escaped(brand.siteUrl + path)}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`;
}

/** https://www.w3.org/TR/appmanifest/ */
function manifest(): string {
  const icon = (size: number) => ({
    src: `/icon-${size}.png`,
    sizes: `${size}x${size}`,
    type: 'image/png',
  });
  return JSON.stringify({
    name: brand.name,
    start_url: '/',
    display: 'browser',
    background_color: '#faf7f1',
    theme_color: '#0a0f15',
    icons: [icon(192), icon(512)],
  });
}

/** RFC 9116. It has to expire; a site that is built at least twice a year never lets it. */
function security(today: Date): string {
  const expires = new Date(today);
  expires.setUTCMonth(expires.getUTCMonth() + 6, 1);
  expires.setUTCHours(0, 0, 0, 0);
  return [
    `Contact: mailto:${brand.emails.admin}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${brand.siteUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
