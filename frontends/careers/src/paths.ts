import * as paths from '@site/kit/paths.ts';
import { closedFrom, dayAt, openOn } from './open-positions.ts';
import { positions } from './positions.ts';
import { DAY_PARAMETER } from './use-today.ts';

export const pages: readonly string[] = [
  paths.careers,
  paths.apply,
  ...openOn(dayAt(Date.now())).map(({ slug }) => paths.position(slug)),
];

/**
 * Paths that are gone (410) from `since`, a Unix time in seconds. The build renders the response's page at
 * `shownBy`, as of the first closed day, or as of today if today is later.
 */
export function goneOn(today: string) {
  return positions.map(position => {
    const { since, day } = closedFrom(position);
    const path = paths.position(position.slug);
    return { path, since, shownBy: `${path}?${DAY_PARAMETER}=${day > today ? day : today}` };
  });
}

export const gone = goneOn(dayAt(Date.now()));

/** Legacy URLs of a position, and of its form. */
export const redirects = positions.flatMap(({ id, slug }) => [
  { from: paths.careers, parameters: [`position=${id}`], to: paths.position(slug) },
  { from: `${paths.apply}/${id}`, to: paths.position(slug) },
]);
