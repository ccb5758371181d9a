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

/** Every address that gets a page of its own, and a place in the sitemap. */
export const pages: readonly string[] = [...shellPaths, ...blogPages, ...careersPages];

/** Every address that gets a page of its own which the sitemap does not list. */
export const unlisted: readonly string[] = formResultPaths;

/** Pages for addresses that name nothing, by the prefix they stand for. */
export const notFound = [paths.home, paths.article(''), paths.position(''), paths.service('')].map(
  prefix => ({ prefix, page: `${prefix.slice(1)}404.html` }),
);

/** Pages that a parameter of the query chooses instead of the one at their address. */
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

/** Addresses that are gone from a time on. */
export const gone = goneCareers.map(entry => ({
  ...entry,
  page: `${entry.path.slice(1)}.closed.html`,
}));

/** Addresses that only lead on. */
export const redirects = [...shellRedirects, ...blogRedirects, ...careersRedirects];

/** Prerenders the page at an address. */
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
