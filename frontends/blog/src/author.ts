import { brand } from '@site/kit/brand.ts';
import { leadership } from '@site/kit/brand-lists.ts';
import * as paths from '@site/kit/paths.ts';
import type { Thing } from '@site/kit/structured-data.tsx';
import { slugOf } from './author-slug.ts';
import type { PostSummary } from './post.ts';

/** Author of an article: a role of the brand, and a person where the brand names one. */
export type Author = ReturnType<typeof authorOf>;

/** The author of an article. */
export function authorOf({ author: role, authorTitle }: PostSummary) {
  const leader = leadership.find(candidate => candidate.role === role);
  return {
    /** The address of the author's page below `/blog/author/`. */
    slug: slugOf(role),
    name: leader?.name ?? role,
    /** As it stands after "By". */
    byline: leader?.name ?? `the ${role}`,
    title: `${authorTitle}, ${brand.name}`,
    /** Initials in the drawn avatar. */
    monogram: role,
    profileUrl: leader?.profileUrl,
  };
}

/** The author as search engines are told; a role alone speaks for the company. */
export function authorThing(post: PostSummary): Thing {
  const { slug, name, byline, title } = authorOf(post);
  const url = brand.siteUrl + paths.author(slug);
  return name === byline
    ? { '@type': 'Person', name, jobTitle: title, url }
    : { '@type': 'Organization', name: `${name}, ${brand.name}`, url };
}
