// Drawn for every author that an article names: there is no list to keep.
const context = import.meta.webpackContext('./pictures/authors', { regExp: /\.jpg$/ });

/** What a preview of an author's page shows; of one for whom none was drawn yet, that of the site. */
export function previewOf(slug: string): string | undefined {
  const key = `./${slug}.jpg`;
  return context.keys().includes(key) ? (context(key) as string) : undefined;
}
