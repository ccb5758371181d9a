import { LazyArea } from '@site/kit/lazy-area.tsx';
import type { LazyPart, PartSource } from '@site/kit/lazy-part.ts';
import { lazyPart } from '@site/kit/lazy-part.ts';
import * as paths from '@site/kit/paths.ts';
import { matchPath } from '@site/kit/router.ts';
import type { ReactElement } from 'react';
import type { Exposed } from '../../build/exposed.ts';
import type { RemoteModuleUse } from '../../build/rendered.ts';
import { loadChangedPageIfServed } from './frame/page-change.ts';
import { Home, prefetchHome, teasers } from './pages/home.tsx';
import { remotePart } from './remote-part.ts';

interface SiteRoute {
  /** The page stays mounted while the URL changes from one of these patterns to another. */
  patterns: readonly string[];
  element: ReactElement;
  /** Only for a page outside the shell's first chunk. */
  prefetch?: () => void;
  /** Only for a page outside the shell's first chunk. */
  chunk?: string;
  remoteModuleUses?: readonly RemoteModuleUse[];
  /**
   * Result page of a form without JavaScript, omitted from the sitemap. The gateway fills in a refused form,
   * so the page runs no application that would overwrite the entries.
   */
  formResult?: 'accepted' | 'refused';
}

type Page = Omit<SiteRoute, 'patterns'>;

function page(part: LazyPart): Page {
  const element = <LazyArea part={part} onMissing={loadChangedPageIfServed} />;
  return { element, prefetch: part.prefetch };
}

function ownPage(chunk: string, load: PartSource['load']): Page {
  return { chunk, ...page(lazyPart({ frontEnd: 'shell', load })) };
}

// Result pages are small, so all accepted forms share one chunk, and all refused forms another.

function acceptedPage(type: keyof typeof import('./pages/accepted.tsx')['accepted']): Page {
  const load = async () => {
    const { accepted } = await import(/* webpackChunkName: "accepted" */ './pages/accepted.tsx');
    return { default: accepted[type] };
  };
  return { formResult: 'accepted', ...ownPage('accepted', load) };
}

function refusedPage(type: keyof typeof import('./pages/refused.tsx')['refused']): Page {
  const load = async () => {
    const { refused } = await import(/* webpackChunkName: "refused" */ './pages/refused.tsx');
    return { default: refused[type] };
  };
  return { formResult: 'refused', ...ownPage('refused', load) };
}

function remotePage(exposed: Exposed): Page {
  const { part, use } = remotePart(exposed, 'high');
  return { remoteModuleUses: [use], ...page(part) };
}

/** In the order of the specification's route table. */
const pages: Readonly<Record<paths.PageType, Page>> = {
  home: { element: <Home />, prefetch: prefetchHome, remoteModuleUses: [teasers.use] },
  about: ownPage('about', () => import(/* webpackChunkName: "about" */ './pages/about.tsx')),
  contact: ownPage(
    'contact',
    () => import(/* webpackChunkName: "contact" */ './pages/contact.tsx'),
  ),
  messageSent: acceptedPage('messageSent'),
  messageNotSent: refusedPage('messageNotSent'),
  subscribed: acceptedPage('subscribed'),
  notSubscribed: refusedPage('notSubscribed'),
  confirmed: acceptedPage('confirmed'),
  unsubscribed: acceptedPage('unsubscribed'),
  notAnswered: refusedPage('notAnswered'),
  blogList: remotePage('blog/blog-list'),
  author: remotePage('blog/blog-author'),
  article: remotePage('blog/blog-post'),
  services: ownPage(
    'services',
    () => import(/* webpackChunkName: "services" */ './pages/services.tsx'),
  ),
  service: ownPage(
    'service',
    () => import(/* webpackChunkName: "service" */ './pages/service.tsx'),
  ),
  solutions: ownPage(
    'solutions',
    () => import(/* webpackChunkName: "solutions" */ './pages/solutions.tsx'),
  ),
  privacy: ownPage(
    'privacy',
    () => import(/* webpackChunkName: "privacy" */ './pages/privacy.tsx'),
  ),
  terms: ownPage('terms', () => import(/* webpackChunkName: "terms" */ './pages/terms.tsx')),
  careers: remotePage('careers/careers-page'),
  application: remotePage('careers/application-page'),
  applied: { formResult: 'accepted', ...remotePage('careers/applied') },
  notApplied: { formResult: 'refused', ...remotePage('careers/not-applied') },
  position: remotePage('careers/position-page'),
  notFound: ownPage(
    'not-found',
    () => import(/* webpackChunkName: "not-found" */ './pages/not-found.tsx'),
  ),
};

export const routes: readonly SiteRoute[] = (Object.keys(pages) as paths.PageType[]).map(type => ({
  patterns: paths.routePatterns[type],
  ...pages[type],
}));

const matches = routes.flatMap(route => route.patterns.map(pattern => ({ route, pattern })));
const matchByPattern = new Map(matches.map(match => [match.pattern, match]));

/** Most paths equal a pattern; matching every route would cost a phone 10 ms. */
export function routeAt(path: string) {
  const found = matchByPattern.get(path) ?? matches.find(({ pattern }) => matchPath(pattern, path));
  if (!found) {
    throw new Error(`No route matches ${path}, not even the one for everything else`);
  }
  return found;
}

export function prefetchPage(path: string): void {
  routeAt(path).route.prefetch?.();
}

/** Two paths of one page, such as two categories of a list, share the key. */
export function pageKeyOf({ patterns }: SiteRoute, path: string): string {
  return patterns.length > 1 ? patterns.join() : path;
}
