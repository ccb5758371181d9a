/**
 * Marks a page that has the footer; without it a page has none. The stylesheet does the rest, so that
 * it works in static HTML and across front ends.
 */
export function FooterMarker() {
  return <span data-footer="" hidden />;
}
