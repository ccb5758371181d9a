/** Calls `use` once `find` returns an element. Returns a function that stops waiting. */
export function waitForElement(
  find: () => HTMLElement | null,
  use: (element: HTMLElement) => void,
): () => void {
  const found = find();
  if (found) {
    use(found);
    return () => undefined;
  }
  const observer = new MutationObserver(() => {
    const late = find();
    if (late) {
      observer.disconnect();
      use(late);
    }
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return () => observer.disconnect();
}
