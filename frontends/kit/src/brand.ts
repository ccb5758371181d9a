/** Brand of the site: the content of the root `brand.json`, described in `brand.schema.json`, but for its lists (`brand-lists.ts`). */
export interface Brand {
  name: string;
  tagline: string;
  blurb: string;
  /** The site's public address, without a slash at the end. */
  siteUrl: string;
  /** Variant of the home page at `/`: `classic` or `impact`. */
  defaultHome: string;
  /** Where it can be read how to report a vulnerability. */
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

/** The brand that this build is for. */
// biome-ignore lint/performance/noBarrelFile: an object made of it would carry every value into each front end
export { default as brand } from '../../../brand.json' with { type: 'json' };
