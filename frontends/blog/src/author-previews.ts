// `npm run draw` makes a preview for every author, so no list is needed.
const context = import.meta.webpackContext('./pictures/authors', { regExp: /\.jpg$/ });

/** URL of the author's preview. If it is undefined, `PageMeta` shows the site's preview. */
export function previewOf(slug: string): string | undefined {
  const key = `./${slug}.jpg`;
  return context.keys().includes(key) ? (context(key) as string) : undefined;
}
