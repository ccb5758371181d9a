/**
 * Leaves links within a page, and the way back from them, to the browser; to be called before the router listens.
 * A router that told the page of them would have React give up HTML that it has not hydrated yet.
 */
export function leaveHashLinksToBrowser(): void {
  let shown = page();
  // Of its own changes the router tells nobody, and before it has shown one the visitor may be on the way back.
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

/** The address without what it points at within the page. */
function page(): string {
  return location.pathname + location.search;
}
