import { colour } from '../kit/drawing/tokens.ts';
import type { Brand } from '../kit/src/brand.ts';

interface MappedSite {
  brand: Brand;
  pages: readonly string[];
  lastModified: Readonly<Record<string, string>>;
}

export function discoveryFiles(site: MappedSite, today: Date): Record<string, string> {
  const { brand } = site;
  return {
    'sitemap.xml': sitemap(site),
    'robots.txt': `User-agent: *\nAllow: /\nSitemap: ${brand.siteUrl}/sitemap.xml\n`,
    'site.webmanifest': manifest(brand),
    '.well-known/security.txt': security(brand, today),
  };
}

/** https://www.sitemaps.org/protocol.html */
function sitemap({ brand, pages, lastModified }: MappedSite): string {
  const urls = pages.map(path => {
    const day = lastModified[path];
    const change = day ? `<lastmod>${day}</lastmod>` : '';
    return `<url><loc>${escaped(brand.siteUrl + path)}</loc>${change}</url>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`;
}

/** https://www.w3.org/TR/appmanifest/ */
function manifest({ name }: Brand): string {
  const icon = (size: number) => ({
    src: `/icon-${size}.png`,
    sizes: `${size}x${size}`,
    type: 'image/png',
  });
  return JSON.stringify({
    name,
    start_url: '/',
    display: 'browser',
    background_color: colour('light', 'paper'),
    theme_color: colour('dark', 'paper'),
    icons: [icon(192), icon(512)],
  });
}

/** RFC 9116 requires an expiry date, so the site must be built again within five months. */
function security({ emails, securityPolicyUrl, siteUrl }: Brand, today: Date): string {
  const expires = new Date(today);
  expires.setUTCMonth(expires.getUTCMonth() + 6, 1);
  expires.setUTCHours(0, 0, 0, 0);
  return [
    `Contact: mailto:${emails.admin}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${siteUrl}/.well-known/security.txt`,
    ...(securityPolicyUrl ? [`Policy: ${securityPolicyUrl}`] : []),
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
