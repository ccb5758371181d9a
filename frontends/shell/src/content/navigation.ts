/** The main navigation. `services` stands for the menu of all services. */
export const navigation = [
  { title: 'Home', path: '/' },
  { title: 'About', path: '/about' },
  { title: 'Solutions', path: '/solutions' },
  { title: 'Services', path: '/services', menu: 'services' },
  { title: 'Blogs', path: '/blog' },
  { title: 'Contact', path: '/contact' },
  { title: 'Careers', path: '/careers' },
] as const;
