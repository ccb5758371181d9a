import type { components } from '@site/kit/api.gen.ts';
import type { PageType } from '@site/kit/paths.ts';
import * as paths from '@site/kit/paths.ts';
import { matchPath } from '@site/kit/router.ts';

/** Kind of a page, as visits are counted by it. */
export type PageKind = components['schemas']['PageKind'];

const KINDS: Readonly<Record<PageType, PageKind>> = {
  home: 'home',
  about: 'about',
  contact: 'contact',
  messageSent: 'form-result',
  messageNotSent: 'form-result',
  subscribed: 'form-result',
  notSubscribed: 'form-result',
  confirmed: 'form-result',
  unsubscribed: 'form-result',
  notAnswered: 'form-result',
  blogList: 'blog-list',
  author: 'author',
  article: 'article',
  services: 'services',
  service: 'service',
  solutions: 'solutions',
  privacy: 'privacy',
  terms: 'terms',
  careers: 'careers',
  application: 'application',
  applied: 'form-result',
  notApplied: 'form-result',
  position: 'position',
  notFound: 'not-found',
};

/** The kind of the page at a path: nothing else of an address is told. */
export function pageKindOf(path: string): PageKind {
  const types = Object.keys(KINDS) as PageType[];
  const found = types.find(type =>
    paths.routePatterns[type].some(pattern => matchPath(pattern, path)),
  );
  return KINDS[found ?? 'notFound'];
}
