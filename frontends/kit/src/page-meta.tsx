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

/** Metadata of a page for search engines and link previews (Open Graph, https://ogp.me). */
export function PageMeta({
  title,
  description,
  path,
  picture = '/previews/home.jpg',
  kind = 'website',
}: PageMetaProps) {
  const full = title ? titleOf(title) : `${brand.name}: ${brand.tagline}`;
  return (
    <>
      <title>{full}</title>
      <meta name="description" content={description} />
      <meta property="og:type" content={kind} />
      <meta property="og:site_name" content={brand.name} />
      <meta property="og:title" content={full} />
      <meta property="og:description" content={description} />
      <meta property="og:image" content={`${brand.siteUrl}${picture}`} />
      <meta name="twitter:card" content="summary_large_image" />
      {path ? (
        <>
          <meta property="og:url" content={`${brand.siteUrl}${path}`} />
          <link rel="canonical" href={`${brand.siteUrl}${path}`} />
        </>
      ) : (
        <meta name="robots" content="noindex" />
      )}
    </>
  );
}

/** Document title of a page, with the company's name. */
export function titleOf(page: string): string {
  return `${page} | ${brand.name}`;
}
