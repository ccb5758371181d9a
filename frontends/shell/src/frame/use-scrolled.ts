import { useSyncExternalStore } from 'react';

/** From here on a page counts as scrolled, in CSS pixels. */
const THRESHOLD = 20;

/** Whether the page is scrolled. */
export function useScrolled(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => window.scrollY > THRESHOLD,
    () => false,
  );
}

function subscribe(onChange: () => void) {
  window.addEventListener('scroll', onChange, { passive: true });
  return () => window.removeEventListener('scroll', onChange);
}
