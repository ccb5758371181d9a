import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of all front ends. */
export const frontends: string = dirname(dirname(fileURLToPath(import.meta.url)));
/** The checkout. */
export const root: string = dirname(frontends);
/** Where the built site goes: what the gateway's SITE_DIR names. */
export const dist: string = process.env['SITE_OUT'] ?? join(frontends, 'dist');
/** Where it goes as a folder for each front end: what the SITE_DIR of their servers names. */
export const split: string = `${dist}.split`;
/** What the build needs and visitors do not get. */
export const scratch: string = `${dist}.server`;
/** Build manifest of the site in `dist`; beside it, because it is none of the visitors' business. */
export const manifestFile: string = `${dist}.manifest.json`;
/** Who the site speaks for. */
export const brandFile: string = process.env['BRAND_FILE'] ?? join(root, 'brand.json');
