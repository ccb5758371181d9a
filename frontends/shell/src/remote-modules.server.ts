import type { remoteModules as clientModules } from './remote-modules.ts';

/** Server-side counterpart of `remote-modules.ts`, and that of one bundle: it imports the remotes' sources. */
export const remoteModules: typeof clientModules = {
  blogList: {
    frontEnd: 'blog',
    load: () => import(/* webpackChunkName: "blog-list" */ 'blog/blog-list'),
  },
  blogPost: {
    frontEnd: 'blog',
    load: () => import(/* webpackChunkName: "blog-post" */ 'blog/blog-post'),
  },
  blogAuthor: {
    frontEnd: 'blog',
    load: () => import(/* webpackChunkName: "blog-author" */ 'blog/blog-author'),
  },
  blogTeasers: {
    frontEnd: 'blog',
    load: () => import(/* webpackChunkName: "blog-teasers" */ 'blog/blog-teasers'),
  },
  careersPage: {
    frontEnd: 'careers',
    load: () => import(/* webpackChunkName: "careers-page" */ 'careers/careers-page'),
  },
  positionPage: {
    frontEnd: 'careers',
    load: () => import(/* webpackChunkName: "position-page" */ 'careers/position-page'),
  },
  applicationPage: {
    frontEnd: 'careers',
    load: () => import(/* webpackChunkName: "application-page" */ 'careers/application-page'),
  },
  applied: {
    frontEnd: 'careers',
    load: () => import(/* webpackChunkName: "applied" */ 'careers/applied'),
  },
  notApplied: {
    frontEnd: 'careers',
    load: () => import(/* webpackChunkName: "not-applied" */ 'careers/not-applied'),
  },
};
