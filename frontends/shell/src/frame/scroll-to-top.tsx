import { useLocation, useNavigationType } from '@site/kit/router.ts';
import { useEffect } from 'react';
import { waitForElement } from './wait-for-element.ts';

export function ScrollToTop() {
  const { pathname, hash } = useLocation();
  // The browser restores the position on load, back and forward.
  const isPlaced = useNavigationType() === 'POP';
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the path must also scroll to the top
  useEffect(() => {
    if (isPlaced) {
      return undefined;
    }
    window.scrollTo(0, 0);
    const id = decodeURIComponent(hash.slice(1));
    return id
      ? waitForElement(
          () => document.getElementById(id),
          target => target.scrollIntoView(),
        )
      : undefined;
  }, [pathname, hash]);
  return null;
}
