const MARGIN = '200px';

/** Calls `then` once, when the element comes near the viewport. Returns a function that stops observing. */
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
