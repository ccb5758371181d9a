import { useRef, useSyncExternalStore } from 'react';

const never = () => () => undefined;

/**
 * Whether what React shows is its own, not the page's HTML that it hydrates. The first render must
 * repeat that HTML, so whatever only the browser knows (search parameters, storage, theme) waits for it.
 */
export function useHydrated(): boolean {
  return useBrowserValue(() => true, false);
}

/** What only the browser knows, and in the page's HTML `prerendered`. Where both are the same nothing renders twice. */
export function useBrowserValue<Value extends string | number | boolean>(
  read: () => Value,
  prerendered: Value,
): Value {
  return useSyncExternalStore(never, read, () => prerendered);
}

/** Whether what is shown was in the page's HTML, and not brought later. Unlike `useHydrated` it never changes. */
export function useWasPrerendered(): boolean {
  const wasPrerendered = useRef(false);
  return useSyncExternalStore(
    never,
    () => wasPrerendered.current,
    () => {
      // React asks for this one on the server and while it hydrates, and for the other one ever after.
      wasPrerendered.current = true;
      return true;
    },
  );
}
