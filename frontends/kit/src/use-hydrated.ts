import { useSyncExternalStore } from 'react';

const never = () => () => undefined;

/**
 * Whether what React shows is its own, not the page's HTML that it hydrates. The first render must
 * repeat that HTML, so whatever only the browser knows (search parameters, storage, theme) waits for it.
 */
export function useHydrated(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
