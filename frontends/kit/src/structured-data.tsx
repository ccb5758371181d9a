import type { Brand } from './brand.ts';
import { brand } from './brand.ts';
import { socials } from './brand-lists.ts';
import * as paths from './paths.ts';

export interface Thing {
  '@type': string;
  [property: string]: unknown;
}

/** Structured data for search engines (JSON-LD, https://schema.org). */
export function StructuredData({ data }: { data: Thing }) {
  const json = JSON.stringify({ '@context': 'https://schema.org', ...data });
  return (
    <script
      type="application/ld+json"
      // biome-ignore lint/security/noDangerouslySetInnerHtml: our own data, and no tag can begin in it
      dangerouslySetInnerHTML={{ __html: json.replaceAll('<', '\\u003c') }}
    />
  );
}

export function organization(): Thing {
  return {
    '@type': 'Organization',
    '@id': `${brand.siteUrl}/#organization`,
    name: brand.name,
    url: brand.siteUrl,
    logo: `${brand.siteUrl}/icon-512.png`,
    description: brand.blurb,
    foundingDate: '2024',
    email: brand.emails.sales,
    telephone: brand.phone,
    address: companyAddress(),
    sameAs: socials.map(({ url }) => url),
  };
}

export function companyAddress(): Thing {
  const { lines, city, region, postalCode, countryCode }: Brand['address'] = brand.address;
  return {
    '@type': 'PostalAddress',
    streetAddress: lines.join(', '),
    addressLocality: city,
    addressRegion: region,
    postalCode,
    addressCountry: countryCode,
  };
}

/** Breadcrumb list that starts at the home page. */
export function breadcrumbs(...steps: readonly { title: string; path: string }[]): Thing {
  return {
    '@type': 'BreadcrumbList',
    itemListElement: [{ title: 'Home', path: paths.home }, ...steps].map(({ title, path }, at) => ({
      '@type': 'ListItem',
      position: at + 1,
      name: title,
      item: `${brand.siteUrl}${path}`,
    })),
  };
}
