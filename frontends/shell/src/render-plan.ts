import * as paths from '@site/kit/paths.ts';
import type { Rendered } from '../../build/rendered.ts';
import { overviewIds, services } from './content/services.ts';
import { routeAt, routes } from './routes.tsx';

// What only the build asks of the routes. Beside them it would be worked out for the first view of every page, too.

/** Every address of the shell's own that gets a page, and a place in the sitemap. */
export const shellPaths: readonly string[] = [
  ...routes
    .filter(({ formResult }) => !formResult)
    .flatMap(({ patterns }) => patterns)
    .filter(path => !/[*:]/.test(path) && !isRemote(path)),
  ...services.map(({ id }) => paths.service(id)),
];

/** Every address of a form's result. */
export const formResultPaths: readonly string[] = routes
  .filter(({ formResult }) => formResult)
  .flatMap(({ patterns }) => patterns);

/** Redirects of the shell. */
export const redirects = Object.entries(overviewIds).map(([from, to]) => ({
  from: paths.service(from),
  to: paths.service(to),
}));

/** Render plan of the page at an address: its chunk, its remote modules, its scripts. */
export function renderPlanOf(path: string): Omit<Rendered, 'html'> {
  const { chunk, remoteModuleUses = [], formResult } = routeAt(path).route;
  return { chunk, remoteModuleUses, scripts: formResult === 'refused' ? 'none' : 'app' };
}

function isRemote(path: string): boolean {
  return renderPlanOf(path).remoteModuleUses.some(({ priority }) => priority === 'high');
}
