import * as paths from '@site/kit/paths.ts';
import { positions } from './positions.ts';

/** Every address of careers that is rendered ahead of time, and has a place in the site's map. */
export const pages: readonly string[] = [paths.careers, paths.apply];

/** The same form for each position, which no map needs. */
export const unmapped: readonly string[] = positions.map(({ id }) => paths.application(id));
