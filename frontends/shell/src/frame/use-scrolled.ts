import { useSyncExternalStore } from 'react';

/** From here on a page counts as scrolled. */
const SCROLLED_AFTER_PX = 20;

/** Whether the page is scrolled. */
export function useScrolled(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => window.scrollY > SCROLLED_AFTER_PX,
    () => false,
  );
}

function subscribe(onChange: () => void) {
  window.addEventListener('scroll', onChange, { passive: true });
  return () => window.removeEventListener('scroll', onChange);
}
