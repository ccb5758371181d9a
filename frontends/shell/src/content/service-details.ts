import { businessDetails } from './business-details.ts';
import { publicDetails } from './public-details.ts';
import type { ServiceDetail } from './service-detail.ts';

/** What each service's own page tells beyond the lists, by the service's id. */
export const details: Readonly<Record<string, ServiceDetail>> = {
  ...businessDetails,
  ...publicDetails,
};
