import * as paths from '@site/kit/paths.ts';
import type { Rendered } from '../../build/rendered.ts';
import { overviewIds, services } from './content/services.ts';
import { routeAt, routes } from './routes.tsx';

// Only the build runs this module. In `routes.tsx`, its code would run in every first view.

/** The shell's own pages in the sitemap. */
export const shellPaths: readonly string[] = [
  ...routes
    .filter(({ formResult }) => !formResult)
    .flatMap(({ patterns }) => patterns)
    .filter(path => !/[*:]/.test(path) && !isRemote(path)),
  ...services.map(({ id }) => paths.service(id)),
];

export const formResultPaths: readonly string[] = routes
  .filter(({ formResult }) => formResult)
  .flatMap(({ patterns }) => patterns);

export const redirects = Object.entries(overviewIds).map(([from, to]) => ({
  from: paths.service(from),
  to: paths.service(to),
}));

export function renderPlanOf(path: string): Omit<Rendered, 'html'> {
  const { chunk, remoteModuleUses = [], formResult } = routeAt(path).route;
  return { chunk, remoteModuleUses, scripts: formResult === 'refused' ? 'none' : 'app' };
}

function isRemote(path: string): boolean {
  return renderPlanOf(path).remoteModuleUses.some(({ priority }) => priority === 'high');
}
