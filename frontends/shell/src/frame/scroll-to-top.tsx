import { useLocation } from '@site/kit/router.ts';
import { useEffect, useRef } from 'react';

/** Shows every page from its top, or from what its address points at. */
export function ScrollToTop() {
  const { pathname, hash } = useLocation();
  const isFirst = useRef(true);
  useEffect(() => {
    // The browser itself places the first page, a reloaded one where it was.
    if (isFirst.current) {
      isFirst.current = false;
      return;
    }
    const target = hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
    if (target) {
      target.scrollIntoView();
    } else if (pathname) {
      window.scrollTo(0, 0);
    }
  }, [pathname, hash]);
  return null;
}
