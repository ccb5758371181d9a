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

/** Pages that say that there is nothing, one of each kind. */
export const NOT_FOUND: readonly string[] = [
  '/no-such-page',
  '/blog/no-such-post',
  '/services/no-such-service',
];
