import { brand } from './brand.ts';

interface PageMetaProps {
  /** What the page is called, without the company's name. */
  title?: string;
  description: string;
  /** The page's one address on the site; a page without one asks not to be indexed. */
  path?: string;
}

/** What search engines and previews are told of a page. */
export function PageMeta({ title, description, path }: PageMetaProps) {
  const full = title ? `${title} | ${brand.name}` : `${brand.name}: ${brand.tagline}`;
  return (
    <>
      <title>{full}</title>
      <meta name="description" content={description} />
      <meta property="og:title" content={full} />
      <meta property="og:description" content={description} />
      {path ? (
        <link rel="canonical" href={`${brand.siteUrl}${path}`} />
      ) : (
        <meta name="robots" content="noindex" />
      )}
    </>
  );
}
