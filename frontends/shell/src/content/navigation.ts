import * as paths from '@site/kit/paths.ts';
/** An entry with `menu` also opens the list of all services. */
export const navigation = [
  { title: 'Home', path: paths.home },
  { title: 'About', path: paths.about },
  { title: 'Solutions', path: paths.solutions },
  { title: 'Services', path: paths.services, menu: 'services' },
  { title: 'Blogs', path: paths.blog },
  { title: 'Contact', path: paths.contact },
  { title: 'Careers', path: paths.careers },
] as const;
