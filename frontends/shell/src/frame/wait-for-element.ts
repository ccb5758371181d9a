/** Calls `use` with an element once it is in the page: at once, or when what brings it has loaded. Returns how to stop. */
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
