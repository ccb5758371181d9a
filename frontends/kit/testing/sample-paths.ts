import * as paths from '../src/paths.ts';

/** Paths of pages that visitors come to, of each page type one. */
const PAGES = {
  home: paths.home,
  // Another hero of the same page, which the router does not tell apart.
  impact: '/?variant=impact',
  about: paths.about,
  contact: paths.contact,
  blogList: paths.blog,
  author: paths.author('cto'),
  article: paths.article('ai-advancements'),
  services: paths.services,
  service: paths.service('traffic-public-safety'),
  solutions: paths.solutions,
  privacy: paths.privacy,
  terms: paths.terms,
  careers: paths.careers,
  application: paths.apply,
  position: paths.position('computer-vision-intern'),
} as const;

/** Paths of the results of forms that were sent without JavaScript. */
const ACCEPTING = {
  messageSent: paths.routePatterns.messageSent[0],
  subscribed: paths.routePatterns.subscribed[0],
  confirmed: paths.routePatterns.confirmed[0],
  unsubscribed: paths.routePatterns.unsubscribed[0],
  applied: paths.routePatterns.applied[0],
} as const;

/** Paths of the pages that the gateway fills in where such a form is refused. */
const REFUSING = {
  messageNotSent: paths.routePatterns.messageNotSent[0],
  notSubscribed: paths.routePatterns.notSubscribed[0],
  notAnswered: paths.routePatterns.notAnswered[0],
  notApplied: paths.routePatterns.notApplied[0],
} as const;

/** A page of each type, by its type: which pages tests and tools look at is chosen from these. */
export const SAMPLES = {
  ...PAGES,
  ...ACCEPTING,
  ...REFUSING,
  notFound: '/no-such-page',
} as const satisfies Record<paths.PageType | 'impact', string>;

/** One page of each type that visitors come to: what is photographed and measured. */
export const SAMPLE_PATHS = Object.values(PAGES);
export const ACCEPTED = Object.values(ACCEPTING);
export const REFUSED = Object.values(REFUSING);

/** Pages that say that there is nothing, one of each type. */
export const NOT_FOUND = [
  SAMPLES.notFound,
  paths.article('no-such-post'),
  paths.service('no-such-service'),
  paths.position('no-such-position'),
] as const;

/** Any of them. */
export type SamplePath = (typeof SAMPLES)[keyof typeof SAMPLES] | (typeof NOT_FOUND)[number];
