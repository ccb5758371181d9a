import { LazyArea } from '@site/kit/lazy-area.tsx';
import type { LazyPart, PartSource } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import * as paths from '@site/kit/paths.ts';
import { matchPath } from '@site/kit/router.ts';
import type { ReactElement } from 'react';
import type { RemoteModuleUse } from '../../build/rendered.ts';
import { Home, prefetchHome } from './pages/home.tsx';
import { remoteParts } from './remote-lazy-parts.ts';

interface SiteRoute {
  /** Patterns of the router. What several of them show is one page, which stays when one leads to another. */
  patterns: readonly string[];
  element: ReactElement;
  /** Prefetches the page, where it is not in the shell's first chunk. */
  prefetch?: () => void;
  /** The chunk of a page that is not in the shell's first one. */
  chunk?: string;
  remoteModuleUses?: readonly RemoteModuleUse[];
  /**
   * Result page of a form that was sent without JavaScript, and no place to begin at: the sitemap does not list it. A
   * refusal is filled in by the gateway, and no script may take that back.
   */
  formResult?: 'accepted' | 'refused';
}

function page(part: LazyPart): Pick<SiteRoute, 'element' | 'prefetch'> {
  return { element: <LazyArea part={part} />, prefetch: part.prefetch };
}

function ownPage(load: PartSource['load']) {
  return page(lazyPart({ frontEnd: 'shell', load }));
}

/** Routes by page type, in the order of the specification's route table. */
const routesByPage: Readonly<Record<paths.PageType, SiteRoute>> = {
  home: {
    patterns: paths.routePatterns.home,
    element: <Home />,
    prefetch: prefetchHome,
    remoteModuleUses: [{ remote: 'blog', module: 'blog-teasers', priority: 'low' }],
  },
  about: {
    patterns: paths.routePatterns.about,
    chunk: 'about',
    ...ownPage(() => import(/* webpackChunkName: "about" */ './pages/about.tsx')),
  },
  contact: {
    patterns: paths.routePatterns.contact,
    chunk: 'contact',
    ...ownPage(() => import(/* webpackChunkName: "contact" */ './pages/contact.tsx')),
  },
  // Result pages of forms are small, and share a chunk: one for those that were accepted, one for those that were not.
  messageSent: {
    patterns: paths.routePatterns.messageSent,
    chunk: 'accepted',
    formResult: 'accepted',
    ...ownPage(() => import(/* webpackChunkName: "accepted" */ './pages/contact-sent.tsx')),
  },
  messageNotSent: {
    patterns: paths.routePatterns.messageNotSent,
    chunk: 'refused',
    formResult: 'refused',
    ...ownPage(() => import(/* webpackChunkName: "refused" */ './pages/contact-not-sent.tsx')),
  },
  subscribed: {
    patterns: paths.routePatterns.subscribed,
    chunk: 'accepted',
    formResult: 'accepted',
    ...ownPage(
      () => import(/* webpackChunkName: "accepted" */ './pages/newsletter-subscribed.tsx'),
    ),
  },
  notSubscribed: {
    patterns: paths.routePatterns.notSubscribed,
    chunk: 'refused',
    formResult: 'refused',
    ...ownPage(
      () => import(/* webpackChunkName: "refused" */ './pages/newsletter-not-subscribed.tsx'),
    ),
  },
  confirmed: {
    patterns: paths.routePatterns.confirmed,
    chunk: 'accepted',
    formResult: 'accepted',
    ...ownPage(() => import(/* webpackChunkName: "accepted" */ './pages/newsletter-confirmed.tsx')),
  },
  unsubscribed: {
    patterns: paths.routePatterns.unsubscribed,
    chunk: 'accepted',
    formResult: 'accepted',
    ...ownPage(
      () => import(/* webpackChunkName: "accepted" */ './pages/newsletter-unsubscribed.tsx'),
    ),
  },
  notAnswered: {
    patterns: paths.routePatterns.notAnswered,
    chunk: 'refused',
    formResult: 'refused',
    ...ownPage(
      () => import(/* webpackChunkName: "refused" */ './pages/newsletter-not-answered.tsx'),
    ),
  },
  blogList: {
    patterns: paths.routePatterns.blogList,
    ...page(remoteParts.blogList),
    remoteModuleUses: [{ remote: 'blog', module: 'blog-list', priority: 'high' }],
  },
  author: {
    patterns: paths.routePatterns.author,
    ...page(remoteParts.blogAuthor),
    remoteModuleUses: [{ remote: 'blog', module: 'blog-author', priority: 'high' }],
  },
  article: {
    patterns: paths.routePatterns.article,
    ...page(remoteParts.blogPost),
    remoteModuleUses: [{ remote: 'blog', module: 'blog-post', priority: 'high' }],
  },
  services: {
    patterns: paths.routePatterns.services,
    chunk: 'services',
    ...ownPage(() => import(/* webpackChunkName: "services" */ './pages/services.tsx')),
  },
  service: {
    patterns: paths.routePatterns.service,
    chunk: 'service',
    ...ownPage(() => import(/* webpackChunkName: "service" */ './pages/service.tsx')),
  },
  solutions: {
    patterns: paths.routePatterns.solutions,
    chunk: 'solutions',
    ...ownPage(() => import(/* webpackChunkName: "solutions" */ './pages/solutions.tsx')),
  },
  privacy: {
    patterns: paths.routePatterns.privacy,
    chunk: 'privacy',
    ...ownPage(() => import(/* webpackChunkName: "privacy" */ './pages/privacy.tsx')),
  },
  terms: {
    patterns: paths.routePatterns.terms,
    chunk: 'terms',
    ...ownPage(() => import(/* webpackChunkName: "terms" */ './pages/terms.tsx')),
  },
  careers: {
    patterns: paths.routePatterns.careers,
    ...page(remoteParts.careersPage),
    remoteModuleUses: [{ remote: 'careers', module: 'careers-page', priority: 'high' }],
  },
  application: {
    patterns: paths.routePatterns.application,
    ...page(remoteParts.applicationPage),
    remoteModuleUses: [{ remote: 'careers', module: 'application-page', priority: 'high' }],
  },
  applied: {
    patterns: paths.routePatterns.applied,
    formResult: 'accepted',
    ...page(remoteParts.applied),
    remoteModuleUses: [{ remote: 'careers', module: 'applied', priority: 'high' }],
  },
  notApplied: {
    patterns: paths.routePatterns.notApplied,
    formResult: 'refused',
    ...page(remoteParts.notApplied),
    remoteModuleUses: [{ remote: 'careers', module: 'not-applied', priority: 'high' }],
  },
  position: {
    patterns: paths.routePatterns.position,
    ...page(remoteParts.positionPage),
    remoteModuleUses: [{ remote: 'careers', module: 'position-page', priority: 'high' }],
  },
  notFound: {
    patterns: paths.routePatterns.notFound,
    chunk: 'not-found',
    ...ownPage(() => import(/* webpackChunkName: "not-found" */ './pages/not-found.tsx')),
  },
};

/** Routes of the shell; in development with the design page. */
export const routes: readonly SiteRoute[] = [
  ...(process.env['NODE_ENV'] === 'development'
    ? [
        {
          patterns: ['/design'],
          ...ownPage(() => import(/* webpackChunkName: "design" */ './pages/design.tsx')),
        },
      ]
    : []),
  ...Object.values(routesByPage),
];

interface RouteMatch {
  route: SiteRoute;
  /** The one of its patterns that is meant. */
  pattern: string;
}

const matches: readonly RouteMatch[] = routes.flatMap(route =>
  route.patterns.map(pattern => ({ route, pattern })),
);
const matchByPattern = new Map(matches.map(match => [match.pattern, match]));

/** The route of an address. Most are patterns themselves: to ask the router for each takes a phone some 10 ms. */
export function routeAt(path: string): RouteMatch {
  const found = matchByPattern.get(path) ?? matches.find(({ pattern }) => matchPath(pattern, path));
  if (!found) {
    throw new Error(`No route matches ${path}, not even the one for everything else`);
  }
  return found;
}

/** Prefetches the code of the page at an address. */
export function prefetchPage(path: string): void {
  routeAt(path).route.prefetch?.();
}

/** Key of the page that a route shows: two addresses of one page, such as two categories of a list, share it. */
export function pageKeyOf({ patterns }: SiteRoute, path: string): string {
  return patterns.length > 1 ? patterns.join() : path;
}
