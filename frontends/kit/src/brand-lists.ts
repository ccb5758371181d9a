import brandFile from '../../../brand.json' with { type: 'json' };

// Apart from the rest of the brand, so that a front end that shows none of them carries none.

/** A profile of the company elsewhere. */
interface Social {
  /** Icon of the network: `network`, `microblog`, `video` or `photos`. */
  kind: string;
  /** Accessible name of the link. */
  label: string;
  url: string;
}

/** A company whose logo stands on the home page. */
interface Partner {
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

export const socials: readonly Social[] = brandFile.socials;
export const partners: readonly Partner[] = brandFile.partners;
export const leadership: readonly Leader[] = brandFile.leadership;
