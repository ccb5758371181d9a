/**
 * Marks a page that shows the footer. `base.css` selects the marker, so it works in static HTML and across
 * front ends.
 */
export function FooterMarker() {
  return <span data-footer="" hidden />;
}
