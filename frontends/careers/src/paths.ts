import * as paths from '@site/kit/paths.ts';
import { positions } from './positions.ts';

/** Every address of careers that is prerendered, and has a place in the sitemap. */
export const pages: readonly string[] = [paths.careers, paths.apply];

/** The same form for each position, which the sitemap does not list. */
export const unlisted: readonly string[] = positions.map(({ id }) => paths.application(id));
