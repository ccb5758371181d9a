import * as paths from '../kit/src/paths.ts';

/** One page of each kind: what is photographed and measured. */
export const ROUTES: readonly string[] = [
  paths.home,
  '/?variant=impact',
  paths.about,
  paths.contact,
  paths.blog,
  '/blog/ai-advancements',
  paths.services,
  '/services/traffic-public-safety',
  paths.solutions,
  paths.privacy,
  paths.terms,
  paths.careers,
];

/** Pages that say that there is nothing, one of each kind. */
export const NOT_FOUND: readonly string[] = [
  '/no-such-page',
  '/blog/no-such-post',
  '/services/no-such-service',
];
