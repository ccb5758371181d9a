import { useEffect } from 'react';

/** Calls `close` on the Escape key, while something is open. */
export function useEscape(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) {
      return undefined;
    }
    const listen = (event: KeyboardEvent) => event.key === 'Escape' && close();
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [isOpen, close]);
}
