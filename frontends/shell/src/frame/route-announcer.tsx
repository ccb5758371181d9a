import { focusOn } from '@site/kit/focus.ts';
import { useEffect, useRef, useState } from 'react';
import { waitForElement } from './wait-for-element.ts';

interface RouteAnnouncerProps {
  /** Page key: see `pageKeyOf`. */
  page: string;
}

/**
 * Announces the new page's title, and focuses its h1, since the link that had the focus may be gone. The
 * browser announces the first page.
 */
export function RouteAnnouncer({ page }: RouteAnnouncerProps) {
  const shown = useRef(page);
  const [title, setTitle] = useState('');
  useEffect(() => {
    if (shown.current === page) {
      return undefined;
    }
    shown.current = page;
    const { activeElement } = document;
    return waitForElement(
      () => document.querySelector('main h1'),
      heading => {
        setTitle(document.title);
        // Keep the focus if the visitor moved it while the page loaded.
        if ([document.body, activeElement].includes(document.activeElement)) {
          focusOn(heading);
        }
      },
    );
  }, [page]);
  // Not `role="status"`, which is for changes within a page.
  return (
    <p aria-live="polite" className="sr-only">
      {title}
    </p>
  );
}
