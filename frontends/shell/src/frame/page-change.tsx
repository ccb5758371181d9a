import { focusOn } from '@site/kit/focus-on.ts';
import { useEffect, useRef, useState } from 'react';
import { whenThere } from './when-there.ts';

interface PageChangeProps {
  /** The page that is shown: addresses of one page, such as two categories of a list, have the same. */
  page: string;
}

/**
 * A change of the page as a document of its own would make it: for whoever listens its title is said, and the focus
 * moves from the link, which may be gone, to the page's heading. The browser itself does so for the first page.
 */
export function PageChange({ page }: PageChangeProps) {
  const shown = useRef(page);
  const [title, setTitle] = useState('');
  useEffect(() => {
    if (shown.current === page) {
      return undefined;
    }
    shown.current = page;
    const { activeElement } = document;
    return whenThere(
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
