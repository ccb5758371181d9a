/** Distance from the viewport within which an element counts as near (`rootMargin`). */
const MARGIN = '200px';

/** Calls `then` once an element comes near the viewport. Returns how to stop waiting for it. */
export function onNearViewport(element: Element | null, then: () => void): () => void {
  const observer = new IntersectionObserver(
    entries => {
      if (entries.some(entry => entry.isIntersecting)) {
        observer.disconnect();
        then();
      }
    },
    { rootMargin: MARGIN },
  );
  if (element) {
    observer.observe(element);
  }
  return () => observer.disconnect();
}
