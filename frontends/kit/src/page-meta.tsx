import { useLayoutEffect } from 'react';
import { brand } from './brand.ts';

interface PageMetaProps {
  /** Page title without the company's name. */
  title?: string;
  description: string;
  /** The page's one address on the site; a page without one asks not to be indexed. */
  path?: string;
  /** Address of the picture that previews show, 1200 by 630 pixels. */
  picture?: string | undefined;
  kind?: 'website' | 'article';
}

/** Element of a page's head, by its attributes: the first two say which it is, the others what it says. */
type HeadTag = { name: string; content: string } | { property: string; content: string };

/** The elements that `PageMeta` writes, but for the title. */
const HEAD_TAGS =
  'meta:is([name=description], [name=robots], [name^="twitter:"], [property^="og:"]), link[rel=canonical]';

/**
 * Metadata of a page for search engines and link previews (Open Graph, https://ogp.me). In a browser it is written past
 * React, which could show no other page any more once an extension has removed one of its own elements from the head.
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

/** Puts a page's elements in the place of another one's, whatever has become of those. */
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

/** Document title of a page, with the company's name. */
export function titleOf(page: string): string {
  return `${page} | ${brand.name}`;
}
