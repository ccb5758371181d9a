import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const frontends: string = dirname(dirname(fileURLToPath(import.meta.url)));
export const root: string = dirname(frontends);
/** Output folder of the built site: the gateway's SITE_DIR. */
export const dist: string = process.env['SITE_OUT'] ?? join(frontends, 'dist');
/** Output folder of `npm run split`. It contains the SITE_DIR of each front end's server. */
export const split: string = `${dist}.split`;
/** Build output that is not published, such as the server build. */
export const scratch: string = `${dist}.server`;
/** Build manifest of the site in `dist`. It is outside that folder because it is not published. */
export const manifestFile: string = `${dist}.manifest.json`;
export const brandFile: string = process.env['BRAND_FILE'] ?? join(root, 'brand.json');
