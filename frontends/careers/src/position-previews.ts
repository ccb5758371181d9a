import careers from './pictures/careers.jpg';

// `npm run draw` makes a preview for every position, so no list is needed.
const context = import.meta.webpackContext('./pictures/positions', { regExp: /\.jpg$/ });

export function previewOf(slug: string): string {
  const key = `./${slug}.jpg`;
  return context.keys().includes(key) ? (context(key) as string) : careers;
}
