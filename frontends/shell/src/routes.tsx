import { LazyArea } from '@site/kit/lazy-area.tsx';
import type { LazyPart, PartSource } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import * as paths from '@site/kit/paths.ts';
import { matchPath } from '@site/kit/router.ts';
import type { ReactElement } from 'react';
import type { Area, Rendered } from '../../build/rendered.ts';
import { overviewIds, services } from './content/services.ts';
import { Home, prefetchHome } from './pages/home.tsx';
import { remoteParts } from './remote-parts.ts';

interface SiteRoute {
  /** Patterns of the router. What several of them show is one page, which stays when one leads to another. */
  patterns: readonly string[];
  element: ReactElement;
  /** Fetches the page ahead, where it is not in the shell's first chunk. */
  prefetch?: () => void;
  /** The chunk of a page that is not in the shell's first one. */
  chunk?: string;
  areas?: readonly Area[];
  /**
   * What comes of a form that was sent without our scripts, and no place to begin at: no map has it. A refusal is filled
   * in by the gateway, and no script may take that back.
   */
  answer?: 'accepted' | 'refused';
}

function page(part: LazyPart): Pick<SiteRoute, 'element' | 'prefetch'> {
  return { element: <LazyArea part={part} />, prefetch: part.prefetch };
}

function ownPage(load: PartSource['load']) {
  return page(lazyPart({ frontEnd: 'shell', load }));
}

/** Every screen of the site, in the order of the specification's route table. */
const screens: Readonly<Record<paths.Kind, SiteRoute>> = {
  home: {
    patterns: paths.kinds.home,
    element: <Home />,
    prefetch: prefetchHome,
    areas: [{ remote: 'blog', module: 'blog-teasers', weight: 'extra' }],
  },
  about: {
    patterns: paths.kinds.about,
    chunk: 'about',
    ...ownPage(() => import(/* webpackChunkName: "about" */ './pages/about.tsx')),
  },
  contact: {
    patterns: paths.kinds.contact,
    chunk: 'contact',
    ...ownPage(() => import(/* webpackChunkName: "contact" */ './pages/contact.tsx')),
  },
  // Answers to forms are small, and share a file: one for those that were accepted, one for those that were not.
  messageSent: {
    patterns: paths.kinds.messageSent,
    chunk: 'accepted',
    answer: 'accepted',
    ...ownPage(() => import(/* webpackChunkName: "accepted" */ './pages/contact-sent.tsx')),
  },
  messageNotSent: {
    patterns: paths.kinds.messageNotSent,
    chunk: 'refused',
    answer: 'refused',
    ...ownPage(() => import(/* webpackChunkName: "refused" */ './pages/contact-not-sent.tsx')),
  },
  subscribed: {
    patterns: paths.kinds.subscribed,
    chunk: 'accepted',
    answer: 'accepted',
    ...ownPage(
      () => import(/* webpackChunkName: "accepted" */ './pages/newsletter-subscribed.tsx'),
    ),
  },
  notSubscribed: {
    patterns: paths.kinds.notSubscribed,
    chunk: 'refused',
    answer: 'refused',
    ...ownPage(
      () => import(/* webpackChunkName: "refused" */ './pages/newsletter-not-subscribed.tsx'),
    ),
  },
  confirmed: {
    patterns: paths.kinds.confirmed,
    chunk: 'accepted',
    answer: 'accepted',
    ...ownPage(() => import(/* webpackChunkName: "accepted" */ './pages/newsletter-confirmed.tsx')),
  },
  unsubscribed: {
    patterns: paths.kinds.unsubscribed,
    chunk: 'accepted',
    answer: 'accepted',
    ...ownPage(
      () => import(/* webpackChunkName: "accepted" */ './pages/newsletter-unsubscribed.tsx'),
    ),
  },
  notAnswered: {
    patterns: paths.kinds.notAnswered,
    chunk: 'refused',
    answer: 'refused',
    ...ownPage(
      () => import(/* webpackChunkName: "refused" */ './pages/newsletter-not-answered.tsx'),
    ),
  },
  blogList: {
    patterns: paths.kinds.blogList,
    ...page(remoteParts.blogList),
    areas: [{ remote: 'blog', module: 'blog-list', weight: 'page' }],
  },
  article: {
    patterns: paths.kinds.article,
    ...page(remoteParts.blogPost),
    areas: [{ remote: 'blog', module: 'blog-post', weight: 'page' }],
  },
  services: {
    patterns: paths.kinds.services,
    chunk: 'services',
    ...ownPage(() => import(/* webpackChunkName: "services" */ './pages/services.tsx')),
  },
  service: {
    patterns: paths.kinds.service,
    chunk: 'service',
    ...ownPage(() => import(/* webpackChunkName: "service" */ './pages/service.tsx')),
  },
  solutions: {
    patterns: paths.kinds.solutions,
    chunk: 'solutions',
    ...ownPage(() => import(/* webpackChunkName: "solutions" */ './pages/solutions.tsx')),
  },
  privacy: {
    patterns: paths.kinds.privacy,
    chunk: 'privacy',
    ...ownPage(() => import(/* webpackChunkName: "privacy" */ './pages/privacy.tsx')),
  },
  terms: {
    patterns: paths.kinds.terms,
    chunk: 'terms',
    ...ownPage(() => import(/* webpackChunkName: "terms" */ './pages/terms.tsx')),
  },
  careers: {
    patterns: paths.kinds.careers,
    ...page(remoteParts.careersPage),
    areas: [{ remote: 'careers', module: 'careers-page', weight: 'page' }],
  },
  application: {
    patterns: paths.kinds.application,
    ...page(remoteParts.applicationPage),
    areas: [{ remote: 'careers', module: 'application-page', weight: 'page' }],
  },
  applied: {
    patterns: paths.kinds.applied,
    answer: 'accepted',
    ...page(remoteParts.applied),
    areas: [{ remote: 'careers', module: 'applied', weight: 'page' }],
  },
  notApplied: {
    patterns: paths.kinds.notApplied,
    answer: 'refused',
    ...page(remoteParts.notApplied),
    areas: [{ remote: 'careers', module: 'not-applied', weight: 'page' }],
  },
  notFound: {
    patterns: paths.kinds.notFound,
    chunk: 'not-found',
    ...ownPage(() => import(/* webpackChunkName: "not-found" */ './pages/not-found.tsx')),
  },
};

/** What the router shows, where. */
export const routes: readonly SiteRoute[] = [
  ...(process.env['NODE_ENV'] === 'development'
    ? [
        {
          patterns: ['/design'],
          ...ownPage(() => import(/* webpackChunkName: "design" */ './pages/design.tsx')),
        },
      ]
    : []),
  ...Object.values(screens),
];

/** Fetches the code of the page at an address ahead. */
export function prefetchPage(path: string): void {
  find(path)?.prefetch?.();
}

/** Every address of the shell's own that gets a page, and a place in the site's map. */
export const shellPaths: readonly string[] = [
  ...routes
    .filter(({ answer }) => !answer)
    .flatMap(({ patterns }) => patterns)
    .filter(path => !/[*:]/.test(path) && !isRemote(path)),
  ...services.map(({ id }) => paths.service(id)),
];

/** Every address that a form leads to. */
export const answerPaths: readonly string[] = routes
  .filter(({ answer }) => answer)
  .flatMap(({ patterns }) => patterns);

/** The shell's addresses that only lead on. */
export const redirects = Object.entries(overviewIds).map(([from, to]) => ({
  from: paths.service(from),
  to: paths.service(to),
}));

/** Where an address leads that only leads on. */
export function redirectOf(path: string): string | undefined {
  return redirects.find(({ from }) => from === path)?.to;
}

/** The route that shows an address. */
export function routeOf(path: string): Omit<Rendered, 'html'> {
  const found = find(path);
  return {
    chunk: found?.chunk,
    areas: found?.areas ?? [],
    scripts: found?.answer === 'refused' ? 'none' : 'ours',
  };
}

/** Which page an address shows: two addresses of one page, such as two categories of a list, share it. */
export function pageAt(path: string): string {
  const patterns = find(path)?.patterns ?? [];
  return patterns.length > 1 ? patterns.join() : path;
}

function find(path: string): SiteRoute | undefined {
  return routes.find(({ patterns }) => patterns.some(pattern => matchPath(pattern, path)));
}

function isRemote(path: string): boolean {
  return routeOf(path).areas.some(({ weight }) => weight === 'page');
}
