/**
 * Leaves hash links, and going back from them, to the browser. If the router rendered the page again, React
 * would discard HTML that it has not hydrated yet. Call this before the router adds its listeners.
 */
export function leaveHashLinksToBrowser(): void {
  let shown = page();
  // Patched, because the router's URL changes fire no event, and the visitor may go back before a render.
  for (const change of ['pushState', 'replaceState'] as const) {
    const native = history[change].bind(history);
    history[change] = (...entry) => {
      native(...entry);
      shown = page();
    };
  }
  window.addEventListener('popstate', event => {
    const before = shown;
    shown = page();
    if (shown === before) {
      event.stopImmediatePropagation();
    }
  });
}

function page(): string {
  return location.pathname + location.search;
}
