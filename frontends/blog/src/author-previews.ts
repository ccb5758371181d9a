// `npm run draw` makes a preview for every author, so no list is needed.
const context = import.meta.webpackContext('./pictures/authors', { regExp: /\.jpg$/ });

/** Without a drawn picture, `PageMeta` shows the site's. */
export function previewOf(slug: string): string | undefined {
  const key = `./${slug}.jpg`;
  return context.keys().includes(key) ? (context(key) as string) : undefined;
}
