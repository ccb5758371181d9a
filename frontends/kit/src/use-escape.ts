import { useEffect } from 'react';

export function useEscape(close: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => event.key === 'Escape' && close();
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  });
}
