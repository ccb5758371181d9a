import { focusOn } from '@site/kit/focus.ts';
import { useEffect, useRef, useState } from 'react';
import { waitForElement } from './wait-for-element.ts';

interface RouteAnnouncerProps {
  /** The page that is shown: addresses of one page, such as two categories of a list, have the same. */
  page: string;
}

/**
 * Route announcer: announces the new page's title in a live region and moves focus to its h1. The link that had it may
 * be gone. The browser itself does so for the first page.
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
        // Who went somewhere else while the page was loaded stays there.
        if ([document.body, activeElement].includes(document.activeElement)) {
          focusOn(heading);
        }
      },
    );
  }, [page]);
  // Not a status: those of a page are about what happens within it.
  return (
    <p aria-live="polite" className="sr-only">
      {title}
    </p>
  );
}
