import { expect, test } from 'vitest';
import { brand } from '../kit/src/brand.ts';
import { discoveryFiles } from './sitemap.ts';

const files = discoveryFiles(
  { brand, pages: ['/', '/blog/a-post'], lastModified: { '/blog/a-post': '2026-11-19' } },
  new Date('2026-11-20T10:00:00Z'),
);

test('the sitemap lists the canonical URL of every page', () => {
  expect(files['sitemap.xml']?.match(/<loc>[^<]*/g)).toEqual([
    '<loc>https://oculant.example/',
    '<loc>https://oculant.example/blog/a-post',
  ]);
});

test('the sitemap dates a page whose last change is known', () => {
  expect(files['sitemap.xml']).toContain('/</loc></url>');
  expect(files['sitemap.xml']).toContain('a-post</loc><lastmod>2026-11-19</lastmod></url>');
});

test('robots.txt links to the sitemap', () => {
  expect(files['robots.txt']).toContain('Sitemap: https://oculant.example/sitemap.xml');
});

test('security.txt has a contact and an expiry date (RFC 9116)', () => {
  const text = files['.well-known/security.txt'];
  expect(text).toContain('Contact: mailto:admin@oculant.example');
  expect(text).toContain('Expires: 2027-05-01T00:00:00.000Z');
});

test('security.txt has each field once, with canonical URL and policy', () => {
  const lines = files['.well-known/security.txt']?.trimEnd().split('\n') ?? [];
  expect(lines.map(line => line.split(': ')[0])).toEqual([
    'Contact',
    'Expires',
    'Preferred-Languages',
    'Canonical',
    'Policy',
  ]);
  expect(lines).toContain('Canonical: https://oculant.example/.well-known/security.txt');
  expect(lines).toContain('Policy: https://example.com/oculant/site/security/policy');
});

test('the manifest is JSON with icons', () => {
  expect(JSON.parse(files['site.webmanifest'] ?? '')).toMatchObject({
    name: 'Oculant',
    background_color: expect.stringMatching(/^#/),
    theme_color: expect.stringMatching(/^#/),
    icons: [{ sizes: '192x192' }, { sizes: '512x512' }],
  });
});
