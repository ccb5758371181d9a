import { businessDetails } from './business-details.ts';
import { publicDetails } from './public-details.ts';
import type { ServiceDetail } from './service-detail.ts';
import type { ServiceId } from './services.ts';

export const details: Readonly<Record<ServiceId, ServiceDetail>> = {
  ...businessDetails,
  ...publicDetails,
};
