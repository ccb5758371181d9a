import { LazyArea } from '@site/kit/lazy-area.tsx';
import type { LazyPart, PartSource } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import * as paths from '@site/kit/paths.ts';
import { matchPath } from '@site/kit/router.ts';
import type { ReactElement } from 'react';
import type { Area, Rendered } from '../../build/rendered.ts';
import { overviewIds, services } from './content/services.ts';
import { Home } from './pages/home.tsx';
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
export const routes: readonly SiteRoute[] = [
  {
    patterns: [paths.home],
    element: <Home />,
    areas: [{ remote: 'blog', module: 'blog-teasers', weight: 'extra' }],
  },
  {
    patterns: [paths.about],
    chunk: 'about',
    ...ownPage(() => import(/* webpackChunkName: "about" */ './pages/about.tsx')),
  },
  {
    patterns: [paths.contact],
    chunk: 'contact',
    ...ownPage(() => import(/* webpackChunkName: "contact" */ './pages/contact.tsx')),
  },
  {
    patterns: [`${paths.contact}/sent`],
    chunk: 'contact-sent',
    answer: 'accepted',
    ...ownPage(() => import(/* webpackChunkName: "contact-sent" */ './pages/contact-sent.tsx')),
  },
  {
    patterns: [`${paths.contact}/not-sent`],
    chunk: 'contact-not-sent',
    answer: 'refused',
    ...ownPage(
      () => import(/* webpackChunkName: "contact-not-sent" */ './pages/contact-not-sent.tsx'),
    ),
  },
  {
    patterns: ['/newsletter/subscribed'],
    chunk: 'newsletter-subscribed',
    answer: 'accepted',
    ...ownPage(
      () =>
        import(/* webpackChunkName: "newsletter-subscribed" */ './pages/newsletter-subscribed.tsx'),
    ),
  },
  {
    patterns: ['/newsletter/not-subscribed'],
    chunk: 'newsletter-not-subscribed',
    answer: 'refused',
    ...ownPage(
      () =>
        import(
          /* webpackChunkName: "newsletter-not-subscribed" */ './pages/newsletter-not-subscribed.tsx'
        ),
    ),
  },
  {
    patterns: paths.blogLists,
    ...page(remoteParts.blogList),
    areas: [{ remote: 'blog', module: 'blog-list', weight: 'page' }],
  },
  {
    patterns: [`${paths.blog}/*`],
    ...page(remoteParts.blogPost),
    areas: [{ remote: 'blog', module: 'blog-post', weight: 'page' }],
  },
  {
    patterns: [paths.services],
    chunk: 'services',
    ...ownPage(() => import(/* webpackChunkName: "services" */ './pages/services.tsx')),
  },
  {
    patterns: [`${paths.services}/*`],
    chunk: 'service',
    ...ownPage(() => import(/* webpackChunkName: "service" */ './pages/service.tsx')),
  },
  {
    patterns: [paths.solutions],
    chunk: 'solutions',
    ...ownPage(() => import(/* webpackChunkName: "solutions" */ './pages/solutions.tsx')),
  },
  {
    patterns: [paths.privacy],
    chunk: 'privacy',
    ...ownPage(() => import(/* webpackChunkName: "privacy" */ './pages/privacy.tsx')),
  },
  {
    patterns: [paths.terms],
    chunk: 'terms',
    ...ownPage(() => import(/* webpackChunkName: "terms" */ './pages/terms.tsx')),
  },
  {
    patterns: [paths.careers],
    ...page(remoteParts.careersPage),
    areas: [{ remote: 'careers', module: 'careers-page', weight: 'page' }],
  },
  {
    patterns: [`${paths.apply}/*`],
    ...page(remoteParts.applicationPage),
    areas: [{ remote: 'careers', module: 'application-page', weight: 'page' }],
  },
  {
    patterns: [`${paths.careers}/applied`],
    answer: 'accepted',
    ...page(remoteParts.applied),
    areas: [{ remote: 'careers', module: 'applied', weight: 'page' }],
  },
  {
    patterns: [`${paths.careers}/not-applied`],
    answer: 'refused',
    ...page(remoteParts.notApplied),
    areas: [{ remote: 'careers', module: 'not-applied', weight: 'page' }],
  },
  ...(process.env['NODE_ENV'] === 'development'
    ? [
        {
          patterns: ['/design'],
          ...ownPage(() => import(/* webpackChunkName: "design" */ './pages/design.tsx')),
        },
      ]
    : []),
  {
    patterns: ['*'],
    chunk: 'not-found',
    ...ownPage(() => import(/* webpackChunkName: "not-found" */ './pages/not-found.tsx')),
  },
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
  ...services.map(({ id }) => `/services/${id}`),
];

/** Every address that a form leads to. */
export const answerPaths: readonly string[] = routes
  .filter(({ answer }) => answer)
  .flatMap(({ patterns }) => patterns);

/** Where an address leads that only leads on. */
export function redirectOf(path: string): string | undefined {
  const id = path.replace(/^\/services\//, '');
  return overviewIds[id] ? `/services/${overviewIds[id]}` : undefined;
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
