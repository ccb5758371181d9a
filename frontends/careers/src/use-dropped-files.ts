import type { RefObject } from 'react';
import { useEffect } from 'react';

/**
 * The whole dialog or form takes dropped files, since a visitor may miss the field. Elsewhere the shell's
 * `dropped-files.js` keeps the browser from opening them.
 */
export function useDroppedFiles(
  field: RefObject<HTMLElement | null>,
  take: (files: readonly File[]) => void,
): void {
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const area = field.current?.closest<HTMLElement>('dialog') ?? field.current?.closest('form');
    function allow(event: DragEvent) {
      if (event.dataTransfer?.types.includes('Files')) {
        event.preventDefault();
      }
    }
    function drop(event: DragEvent) {
      const files = Array.from(event.dataTransfer?.files ?? []);
      if (files.length > 0) {
        event.preventDefault();
        take(files);
      }
    }
    area?.addEventListener('dragover', allow, { signal });
    area?.addEventListener('drop', drop, { signal });
    return () => listening.abort();
  });
}
