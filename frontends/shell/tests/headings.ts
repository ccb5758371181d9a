import type { Route } from '../../build/routes.ts';

/** How pages are headed, one of each kind, as the specification or we say. A new kind of page needs an entry. */
export const HEADINGS: Readonly<Record<Route, string>> = {
  '/': 'Your cameras already see it. Now someone notices.',
  '/?variant=impact': 'AI. DATA. IMPACT.',
  '/about': 'Pioneering AI Security',
  '/contact': "Let's Connect",
  '/contact/sent': 'Message Sent Successfully!',
  '/contact/not-sent': 'Not sent yet',
  '/newsletter/subscribed': 'Thank you for subscribing!',
  '/newsletter/not-subscribed': 'Not subscribed yet',
  '/blog': 'Insights, mostly about noticing',
  '/blog/ai-advancements': 'AI advancements in video surveillance: from recording to noticing',
  '/blog/no-such-post': 'Blog Post Not Found',
  '/services': 'Tailored Security Services',
  '/services/traffic-public-safety': 'Traffic and Public Safety',
  '/services/no-such-service': 'Service Not Found',
  '/solutions': 'Advanced Security Solutions',
  '/privacy': 'Privacy Policy',
  '/terms': 'Terms of Service',
  '/careers': 'Teach machines to notice',
  '/careers/apply': 'Apply for an internship',
  '/careers/apply/no-such-position': 'Position Not Found',
  '/careers/applied': 'Application Submitted!',
  '/careers/not-applied': 'Not submitted yet',
  '/no-such-page': 'Oops! Page not found',
};
