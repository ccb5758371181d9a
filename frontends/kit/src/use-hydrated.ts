import { useRef, useSyncExternalStore } from 'react';

const never = () => () => undefined;

/**
 * Whether hydration is over. The first render must repeat the HTML, so values that only the browser knows
 * (search parameters, storage, theme) wait for it.
 */
export function useHydrated(): boolean {
  return useBrowserValue(() => true, false);
}

/** Value of the browser, or `prerendered` during hydration. Equal values cause no second render. */
export function useBrowserValue<Value extends string | number | boolean>(
  read: () => Value,
  prerendered: Value,
): Value {
  return useSyncExternalStore(never, read, () => prerendered);
}

/** Whether the component was in the page's HTML. Unlike the value of `useHydrated`, it never changes. */
export function useWasPrerendered(): boolean {
  const wasPrerendered = useRef(false);
  return useSyncExternalStore(
    never,
    () => wasPrerendered.current,
    () => {
      // React calls this function on the server and during hydration. Later it calls only the function above.
      wasPrerendered.current = true;
      return true;
    },
  );
}
