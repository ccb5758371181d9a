/** One page of each kind: what is photographed and measured. */
export const ROUTES: readonly string[] = [
  '/',
  '/?variant=impact',
  '/about',
  '/contact',
  '/blog',
  '/blog/ai-advancements',
  '/services',
  '/services/traffic-public-safety',
  '/solutions',
  '/privacy',
  '/terms',
  '/careers',
];
