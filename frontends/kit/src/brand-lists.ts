import brandFile from '../../../brand.json' with { type: 'json' };

// Separate from `brand.ts`, so that only front ends that show these lists bundle them.

interface Social {
  /** Icon of the network: `network`, `microblog`, `video` or `photos`. */
  kind: string;
  /** Accessible name of the link. */
  label: string;
  url: string;
}

interface Partner {
  name: string;
  logo: string;
  url: string;
}

export interface Leader {
  role: string;
  name?: string;
  profileUrl?: string;
}

export const socials: readonly Social[] = brandFile.socials;
export const partners: readonly Partner[] = brandFile.partners;
export const leadership: readonly Leader[] = brandFile.leadership;
