/** Paths of all pages. Import the whole module: `import * as paths from '@site/kit/paths.ts'`. */

export const home = '/';
export const about = '/about';
export const contact = '/contact';
export const blog = '/blog';
export const services = '/services';
export const solutions = '/solutions';
export const careers = '/careers';
export const apply = '/careers/apply';
export const privacy = '/privacy';
export const terms = '/terms';

/**
 * Route patterns by page type. A type without a route in `shell/src/routes.tsx` or a sample in
 * `kit/testing/sample-paths.ts` does not compile.
 */
export const routePatterns = {
  home: [home],
  about: [about],
  contact: [contact],
  messageSent: [`${contact}/sent`],
  messageNotSent: [`${contact}/not-sent`],
  subscribed: ['/newsletter/subscribed'],
  notSubscribed: ['/newsletter/not-subscribed'],
  confirmed: ['/newsletter/confirmed'],
  unsubscribed: ['/newsletter/unsubscribed'],
  notAnswered: ['/newsletter/not-answered'],
  blogList: [
    blog,
    `${blog}/page/:page`,
    `${blog}/category/:category`,
    `${blog}/category/:category/page/:page`,
  ],
  author: [`${blog}/author/:author`],
  article: [`${blog}/*`],
  services: [services],
  service: [`${services}/*`],
  solutions: [solutions],
  privacy: [privacy],
  terms: [terms],
  careers: [careers],
  application: [apply],
  applied: [`${careers}/applied`],
  notApplied: [`${careers}/not-applied`],
  position: [`${careers}/*`],
  notFound: ['*'],
} as const satisfies Record<string, readonly string[]>;

export type PageType = keyof typeof routePatterns;

export function article<const Id extends string>(id: Id) {
  return `${blog}/${id}` as const;
}

export function author<const Slug extends string>(slug: Slug) {
  return `${blog}/author/${slug}` as const;
}

export function service<const Id extends string>(id: Id) {
  return `${services}/${id}` as const;
}

/** URL of a solution's section on the page of all solutions. */
export function solution(id: string): string {
  return `${solutions}#${id}`;
}

export function position<const Slug extends string>(slug: Slug) {
  return `${careers}/${slug}` as const;
}
