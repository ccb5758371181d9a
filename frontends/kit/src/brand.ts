import brandFile from '../../../brand.json' with { type: 'json' };

/** A profile of the company elsewhere. */
export interface Social {
  /** Which icon it gets: `network`, `microblog`, `video` or `photos`. */
  kind: string;
  /** What a screen reader says. */
  label: string;
  url: string;
}

/** A company whose logo stands on the home page. */
export interface Partner {
  name: string;
  /** File name among the partner logos. */
  logo: string;
  url: string;
}

/** One of the people who lead the company. */
export interface Leader {
  role: string;
  name?: string;
  profileUrl?: string;
}

/** Who the site speaks for: the content of the root `brand.json`, described in `brand.schema.json`, but for its lists of people and profiles. */
export interface Brand {
  name: string;
  tagline: string;
  blurb: string;
  /** The site's public address, without a slash at the end. */
  siteUrl: string;
  /** Which home page a visitor of `/` meets: `classic` or `impact`. */
  defaultHome: string;
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

/** The brand that this build is for. Named one by one, so that a front end carries no more of it than it uses. */
export const brand: Brand = {
  name: brandFile.name,
  tagline: brandFile.tagline,
  blurb: brandFile.blurb,
  siteUrl: brandFile.siteUrl,
  defaultHome: brandFile.defaultHome,
  emails: brandFile.emails,
  phone: brandFile.phone,
  address: brandFile.address,
};

export const socials: readonly Social[] = brandFile.socials;
export const partners: readonly Partner[] = brandFile.partners;
export const leadership: readonly Leader[] = brandFile.leadership;
