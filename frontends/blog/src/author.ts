import { brand } from '@site/kit/brand.ts';
import { leadership } from '@site/kit/brand-lists.ts';
import * as paths from '@site/kit/paths.ts';
import type { Thing } from '@site/kit/structured-data.tsx';
import { slugOf } from './author-slug.ts';
import type { PostSummary } from './post.ts';

/** A role of the brand file, with the person's name if the file has one. */
export type Author = ReturnType<typeof authorOf>;

export function authorOf({ author: role, authorTitle }: PostSummary) {
  const leader = leadership.find(candidate => candidate.role === role);
  return {
    slug: slugOf(role),
    name: leader?.name ?? role,
    /** Text after "By". */
    byline: leader?.name ?? `the ${role}`,
    title: `${authorTitle}, ${brand.name}`,
    monogram: role,
    profileUrl: leader?.profileUrl,
  };
}

/** Structured data of the author: an organization if the role has no name. */
export function authorThing(post: PostSummary): Thing {
  const { slug, name, byline, title } = authorOf(post);
  const url = brand.siteUrl + paths.author(slug);
  return name === byline
    ? { '@type': 'Person', name, jobTitle: title, url }
    : { '@type': 'Organization', name: `${name}, ${brand.name}`, url };
}
