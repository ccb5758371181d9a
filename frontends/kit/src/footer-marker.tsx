/**
 * Asks for the footer on the page it stands on; without it a page has none. The stylesheet does the
 * rest, so that it works in static HTML and across front ends.
 */
export function WithFooter() {
  return <span data-footer="" hidden />;
}
