import { businessDetails } from './business-details.ts';
import { publicDetails } from './public-details.ts';
import type { ServiceDetail } from './service-detail.ts';
import type { ServiceId } from './services.ts';

/** Content of the services' own pages beyond the lists, by the service's id. */
export const details: Readonly<Record<ServiceId, ServiceDetail>> = {
  ...businessDetails,
  ...publicDetails,
};
