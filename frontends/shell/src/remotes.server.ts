import type { remotes as twin } from './remotes.ts';

/** The twin of `remotes.ts` where pages are rendered ahead of time: the remotes' sources. */
export const remotes: typeof twin = {
  blogList: { name: 'blog', load: () => import('blog/blog-list') },
  blogPost: { name: 'blog', load: () => import('blog/blog-post') },
  blogTeasers: { name: 'blog', load: () => import('blog/blog-teasers') },
  careersPage: { name: 'careers', load: () => import('careers/careers-page') },
};
