import { brand } from '@site/kit/brand.ts';
import { leadership } from '@site/kit/brand-lists.ts';
import type { Thing } from '@site/kit/structured-data.tsx';
import type { PostSummary } from './post.ts';

/** Author of an article: a role of the brand, and a person where the brand names one. */
export interface Author {
  name: string;
  /** As it stands after "By". */
  byline: string;
  title: string;
  /** Initials in the drawn avatar. */
  monogram: string;
  profileUrl?: string | undefined;
}

/** The author of an article. */
export function authorOf({ author: role, authorTitle }: PostSummary): Author {
  const leader = leadership.find(candidate => candidate.role === role);
  return {
    name: leader?.name ?? role,
    byline: leader?.name ?? `the ${role}`,
    title: `${authorTitle}, ${brand.name}`,
    monogram: role,
    profileUrl: leader?.profileUrl,
  };
}

/** The author as search engines are told; a role alone speaks for the company. */
export function authorThing(post: PostSummary): Thing {
  const { name, byline, title } = authorOf(post);
  return name === byline
    ? { '@type': 'Person', name, jobTitle: title }
    : { '@type': 'Organization', name: `${name}, ${brand.name}`, url: brand.siteUrl };
}
