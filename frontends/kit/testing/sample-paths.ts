import * as paths from '../src/paths.ts';

/** One path for each type of page that visitors open. */
const PAGES = {
  home: paths.home,
  // A variant of the home page, which has no route of its own.
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

/** Confirmation pages of forms that were sent without JavaScript. */
const ACCEPTING = {
  messageSent: paths.routePatterns.messageSent[0],
  subscribed: paths.routePatterns.subscribed[0],
  confirmed: paths.routePatterns.confirmed[0],
  unsubscribed: paths.routePatterns.unsubscribed[0],
  applied: paths.routePatterns.applied[0],
} as const;

/** Pages that the gateway fills in when it refuses a form that was sent without JavaScript. */
const REFUSING = {
  messageNotSent: paths.routePatterns.messageNotSent[0],
  notSubscribed: paths.routePatterns.notSubscribed[0],
  notAnswered: paths.routePatterns.notAnswered[0],
  notApplied: paths.routePatterns.notApplied[0],
} as const;

/** One path for each page type. Tests and tools choose from these. */
export const SAMPLES = {
  ...PAGES,
  ...ACCEPTING,
  ...REFUSING,
  notFound: '/no-such-page',
} as const satisfies Record<paths.PageType | 'impact', string>;

/** Pages for screenshots and measurements. */
export const SAMPLE_PATHS = Object.values(PAGES);
export const ACCEPTED = Object.values(ACCEPTING);
export const REFUSED = Object.values(REFUSING);

export const NOT_FOUND = [
  SAMPLES.notFound,
  paths.article('no-such-post'),
  paths.service('no-such-service'),
  paths.position('no-such-position'),
] as const;

export type SamplePath = (typeof SAMPLES)[keyof typeof SAMPLES] | (typeof NOT_FOUND)[number];
