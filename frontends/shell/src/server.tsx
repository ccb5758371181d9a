import { brand } from '@site/kit/brand.ts';
import { titleOf } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { StaticRouter } from '@site/kit/static-router.ts';
import { feeds } from 'blog/feed';
import { pages as blogPages, redirects as blogRedirects, lastModified } from 'blog/paths';
import {
  pages as careersPages,
  redirects as careersRedirects,
  gone as goneCareers,
} from 'careers/paths';
import { renderToStaticMarkup } from 'react-dom/server';
import { prerender } from 'react-dom/static';
import type { Rendered } from '../../build/rendered.ts';
import { App } from './app.tsx';
import {
  isNewsletterAction,
  newsletterActions,
  newsletterPrompts,
} from './content/newsletter-prompts.ts';
import { NewsletterNoscriptForm } from './frame/newsletter-noscript-form.tsx';
import { homeVariantOf, homeVariants } from './home-variants.ts';
import {
  formResultPaths,
  renderPlanOf,
  shellPaths,
  redirects as shellRedirects,
} from './render-plan.ts';

export { brand, feeds, lastModified };

export const pages: readonly string[] = [...shellPaths, ...blogPages, ...careersPages];

export const unlisted: readonly string[] = formResultPaths;

export const notFound = [paths.home, paths.article(''), paths.position(''), paths.service('')].map(
  prefix => ({ prefix, page: `${prefix.slice(1)}404.html` }),
);

/** Pages that a query parameter selects. */
export const variants = [
  ...newsletterActions.map(action => ({
    path: paths.home,
    parameter: `newsletter=${action}`,
    page: `index.${action}.html`,
    postsTo: `/api/newsletter/${action}`,
  })),
  ...homeVariants.map(variant => ({
    path: paths.home,
    parameter: `variant=${variant}`,
    page: `index.${variant}.html`,
  })),
];

export const gone = goneCareers.map(entry => ({
  ...entry,
  page: `${entry.path.slice(1)}.closed.html`,
}));

export const redirects = [...shellRedirects, ...blogRedirects, ...careersRedirects];

export async function render(path: string): Promise<Rendered> {
  const failures: unknown[] = [];
  const { prelude } = await prerender(
    <StaticRouter location={path}>
      <App />
    </StaticRouter>,
    {
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      onError: failure => void failures.push(failure),
    },
  );
  const html = await new Response(prelude).text();
  if (failures.length > 0) {
    throw new AggregateError(failures, `${path} cannot be rendered`);
  }
  const { pathname, search } = new URL(path, 'http://site');
  const { chunk, ...route } = renderPlanOf(pathname);
  const variant = pathname === paths.home ? homeVariantOf(search) : undefined;
  return { html, noscript: noscriptFormOf(search), chunk: chunk ?? variant, ...route };
}

function noscriptFormOf(search: string): Rendered['noscript'] {
  const action = new URLSearchParams(search).get('newsletter');
  if (!isNewsletterAction(action)) {
    return undefined;
  }
  const html = renderToStaticMarkup(
    <StaticRouter location={paths.home}>
      <NewsletterNoscriptForm action={action} />
    </StaticRouter>,
  );
  const title = renderToStaticMarkup(<title>{titleOf(newsletterPrompts[action].title)}</title>);
  return { title, html };
}
