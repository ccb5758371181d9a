import { useLocation } from '@site/kit/router.ts';
import { useEffect } from 'react';

/** The page that the router shows. */
let shown: string | undefined;

/** Keeps in mind which page the router shows. */
export function useShownPage(): void {
  const { pathname, search } = useLocation();
  useEffect(() => {
    shown = pathname + search;
  }, [pathname, search]);
}

/**
 * Leaves links within a page, and the way back from them, to the browser; to be called before the router listens.
 * A router that told the page of them would have React give up HTML that it has not taken over yet.
 */
export function keepAnchorsFromRouter(): void {
  window.addEventListener('popstate', event => {
    if (location.pathname + location.search === shown) {
      event.stopImmediatePropagation();
    }
  });
}
