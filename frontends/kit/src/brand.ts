/** Content of `brand.json` (see `brand.schema.json`), without its lists (`brand-lists.ts`). */
export interface Brand {
  name: string;
  tagline: string;
  blurb: string;
  /** Public URL of the site, without a trailing slash. */
  siteUrl: string;
  /** Variant of the home page at `/`: `classic` or `impact`. */
  defaultHome: string;
  /** URL of the policy for reporting vulnerabilities. */
  securityPolicyUrl?: string;
  emails: { sales: string; admin: string; careers: string };
  phone: string;
  address: {
    lines: readonly string[];
    city: string;
    region?: string;
    postalCode?: string;
    country: string;
    countryCode: string;
    map: { latitude: number; longitude: number };
    directionsUrl: string;
  };
}

// biome-ignore lint/performance/noBarrelFile: a copied object would bundle all values into each front end
export { default as brand } from '../../../brand.json' with { type: 'json' };
