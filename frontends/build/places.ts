import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of all front ends. */
export const frontends: string = dirname(dirname(fileURLToPath(import.meta.url)));
/** The checkout. */
export const root: string = dirname(frontends);
/** Where the built site goes: what the gateway's SITE_DIR names. */
export const dist: string = join(frontends, 'dist');
/** What the build needs and visitors do not get. */
export const scratch: string = join(frontends, 'shell', 'dist');
