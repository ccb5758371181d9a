import * as paths from '@site/kit/paths.ts';
import { closedFrom, dayAt, openOn } from './open-positions.ts';
import { positions } from './positions.ts';
import { DAY_PARAMETER } from './use-today.ts';

/** Every address of careers that is prerendered, and has a place in the sitemap. */
export const pages: readonly string[] = [
  paths.careers,
  paths.apply,
  ...openOn(dayAt(Date.now())).map(({ slug }) => paths.position(slug)),
];

/**
 * Addresses that are gone from a time on (`since`, in seconds since 1970), and what shows the page that says so: as it is on
 * the day on which it is gone, or today where that has passed.
 */
export function goneOn(today: string) {
  return positions.map(position => {
    const { since, day } = closedFrom(position);
    const path = paths.position(position.slug);
    return { path, since, shownBy: `${path}?${DAY_PARAMETER}=${day > today ? day : today}` };
  });
}

export const gone = goneOn(dayAt(Date.now()));

/** Former addresses of positions: of the one in the list, and of its form. */
export const redirects = positions.flatMap(({ id, slug }) => [
  { from: paths.careers, parameters: [`position=${id}`], to: paths.position(slug) },
  { from: `${paths.apply}/${id}`, to: paths.position(slug) },
]);
