import * as paths from '../kit/src/paths.ts';

/** What visitors come to, of each kind a page. */
const PAGES = {
  home: paths.home,
  // Another opening of the same page, which the router does not tell apart.
  impact: '/?variant=impact',
  about: paths.about,
  contact: paths.contact,
  blogList: paths.blog,
  article: paths.article('ai-advancements'),
  services: paths.services,
  service: paths.service('traffic-public-safety'),
  solutions: paths.solutions,
  privacy: paths.privacy,
  terms: paths.terms,
  careers: paths.careers,
  application: paths.apply,
} as const;

/** Where a form leads that was sent without our scripts. */
const ACCEPTING = {
  messageSent: paths.kinds.messageSent[0],
  subscribed: paths.kinds.subscribed[0],
  confirmed: paths.kinds.confirmed[0],
  unsubscribed: paths.kinds.unsubscribed[0],
  applied: paths.kinds.applied[0],
} as const;

/** What the gateway fills in where such a form is refused. */
const REFUSING = {
  messageNotSent: paths.kinds.messageNotSent[0],
  notSubscribed: paths.kinds.notSubscribed[0],
  notAnswered: paths.kinds.notAnswered[0],
  notApplied: paths.kinds.notApplied[0],
} as const;

/** A page of each kind, by its kind: which pages tests and tools look at is chosen from these. */
export const SAMPLES = {
  ...PAGES,
  ...ACCEPTING,
  ...REFUSING,
  notFound: '/no-such-page',
} as const satisfies Record<paths.Kind | 'impact', string>;

/** One page of each kind that visitors come to: what is photographed and measured. */
export const ROUTES = Object.values(PAGES);
export const ACCEPTED = Object.values(ACCEPTING);
export const REFUSED = Object.values(REFUSING);

/** Pages that say that there is nothing, one of each kind. */
export const NOT_FOUND = [
  SAMPLES.notFound,
  paths.article('no-such-post'),
  paths.service('no-such-service'),
  paths.application('no-such-position'),
] as const;

/** Any of them. */
export type Route = (typeof SAMPLES)[keyof typeof SAMPLES] | (typeof NOT_FOUND)[number];
