import { useLayoutEffect } from 'react';
import { brand } from './brand.ts';

interface PageMetaProps {
  title?: string;
  description: string;
  /** Canonical path of the page. Without one the page is `noindex`. */
  path?: string;
  /** URL path of the preview picture, 1200 by 630 pixels. */
  picture?: string | undefined;
  kind?: 'website' | 'article';
}

type HeadTag = { name: string; content: string } | { property: string; content: string };

/** Selector of the elements that `PageMeta` writes, except the title. */
const HEAD_TAGS =
  'meta:is([name=description], [name=robots], [name^="twitter:"], [property^="og:"]), link[rel=canonical]';

/**
 * Metadata of a page for search engines and link previews (Open Graph, https://ogp.me). In browsers React
 * does not own these elements, because React fails at a page change if an extension has removed one.
 */
export function PageMeta(props: PageMetaProps) {
  const title = props.title ? titleOf(props.title) : `${brand.name}: ${brand.tagline}`;
  const canonical = props.path === undefined ? undefined : `${brand.siteUrl}${props.path}`;
  const tags = metaTags(props, title, canonical);
  const content = JSON.stringify(tags);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tags are new each time, and their content says when they differ
  useLayoutEffect(() => showHead(title, tags, canonical), [title, canonical, content]);
  return typeof window === 'undefined' ? (
    <>
      <title>{title}</title>
      {tags.map(tag => (
        <meta key={JSON.stringify(tag)} {...tag} />
      ))}
      {canonical ? <link rel="canonical" href={canonical} /> : null}
    </>
  ) : null;
}

function metaTags(
  { description, picture = '/previews/home.jpg', kind = 'website' }: PageMetaProps,
  title: string,
  canonical: string | undefined,
): readonly HeadTag[] {
  return [
    { name: 'description', content: description },
    { property: 'og:type', content: kind },
    { property: 'og:site_name', content: brand.name },
    { property: 'og:title', content: title },
    { property: 'og:description', content: description },
    { property: 'og:image', content: `${brand.siteUrl}${picture}` },
    { name: 'twitter:card', content: 'summary_large_image' },
    canonical ? { property: 'og:url', content: canonical } : { name: 'robots', content: 'noindex' },
  ];
}

/** Replaces the former page's elements, even if an extension has changed them. */
function showHead(title: string, tags: readonly HeadTag[], canonical: string | undefined) {
  document.title = title;
  for (const former of document.head.querySelectorAll(HEAD_TAGS)) {
    former.remove();
  }
  document.head.append(
    ...tags.map(tag => element('meta', tag)),
    ...(canonical ? [element('link', { rel: 'canonical', href: canonical })] : []),
  );
}

function element(name: string, attributes: Readonly<Record<string, string>>): Element {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    made.setAttribute(attribute, value);
  }
  return made;
}

export function titleOf(page: string): string {
  return `${page} | ${brand.name}`;
}
