export function pathsIn(sitemap: string): string[] {
  const addresses = Array.from(sitemap.matchAll(/<loc>([^<]+)/g), ([, url]) => new URL(url ?? ''));
  return addresses.map(({ pathname }) => pathname);
}
