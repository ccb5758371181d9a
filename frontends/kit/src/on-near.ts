/** How far from the view something counts as near. */
const MARGIN = '200px';

/** Calls `then` once an element comes near the view. Returns how to stop waiting for it. */
export function onNear(element: Element | null, then: () => void): () => void {
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
