import type { components } from './api.gen.ts';

/** Attribution of a visit: referrer and campaign. */
export type Attribution = Required<components['schemas']['Attribution']>;

/**
 * Tells where the visitor came from. Nothing is stored for it: the browser knows by which address the page was loaded
 * for as long as it is open, however often its visitor moves on within the site.
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

/** The address that is shown, the one by which the visitor came to the site, and the one that led there, where it is told. */
function thisVisit() {
  const [navigation] = performance.getEntriesByType('navigation');
  const page = location.href;
  return { page, entry: navigation?.name ?? page, referrer: document.referrer };
}

function isFrom(origin: string, address: string): boolean {
  return URL.canParse(address) && new URL(address).origin === origin;
}
