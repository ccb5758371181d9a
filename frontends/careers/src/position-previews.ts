import careers from './pictures/careers.jpg';

// Drawn for every position: there is no list to keep.
const context = import.meta.webpackContext('./pictures/positions', { regExp: /\.jpg$/ });

/** What a preview of a position shows; of one for which none was drawn yet, the picture of all. */
export function previewOf(slug: string): string {
  const key = `./${slug}.jpg`;
  return context.keys().includes(key) ? (context(key) as string) : careers;
}
