import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of all front ends. */
export const frontends: string = dirname(dirname(fileURLToPath(import.meta.url)));
/** The checkout. */
export const root: string = dirname(frontends);
/** Output folder of the built site: the gateway's SITE_DIR. */
export const dist: string = process.env['SITE_OUT'] ?? join(frontends, 'dist');
/** Output folder of the split site, with a folder for each front end: the SITE_DIR of their servers. */
export const split: string = `${dist}.split`;
/** Scratch folder of the build, which visitors do not get. */
export const scratch: string = `${dist}.server`;
/** Build manifest of the site in `dist`; beside it, because it is none of the visitors' business. */
export const manifestFile: string = `${dist}.manifest.json`;
/** Brand file of the site. */
export const brandFile: string = process.env['BRAND_FILE'] ?? join(root, 'brand.json');
