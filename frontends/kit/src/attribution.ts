import type { components } from './api.gen.ts';

export type Attribution = Required<components['schemas']['Attribution']>;

/**
 * Page, referrer and campaign of a visit. Nothing needs to be stored, because the browser keeps the URL of
 * the page load while the visitor moves within the site.
 */
export function attribution(visit = thisVisit()): Attribution {
  const page = new URL(visit.page);
  const campaign = new URL(visit.entry).searchParams;
  return {
    page: page.pathname,
    referrer: isFrom(page.origin, visit.referrer) ? '' : visit.referrer,
    utmSource: campaign.get('utm_source') ?? '',
    utmMedium: campaign.get('utm_medium') ?? '',
    utmCampaign: campaign.get('utm_campaign') ?? '',
    utmTerm: campaign.get('utm_term') ?? '',
    utmContent: campaign.get('utm_content') ?? '',
  };
}

/** `entry` is the URL of the page load. */
function thisVisit() {
  const [navigation] = performance.getEntriesByType('navigation');
  const page = location.href;
  return { page, entry: navigation?.name ?? page, referrer: document.referrer };
}

function isFrom(origin: string, address: string): boolean {
  return URL.canParse(address) && new URL(address).origin === origin;
}
