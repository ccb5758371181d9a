/**
 * Where the pages of the site are, for the router, what is rendered ahead of time, the site's map, navigation, links and
 * what measures pages. Import it whole: `import * as paths from '@site/kit/paths.ts'`.
 */

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

/** The addresses that show the blog's list, as patterns of the router. */
export const blogLists = [
  blog,
  `${blog}/page/:page`,
  `${blog}/category/:category`,
  `${blog}/category/:category/page/:page`,
] as const;
