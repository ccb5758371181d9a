import { useLocation } from '@site/kit/router.ts';
import { useEffect, useRef, useState } from 'react';
import { whenThere } from './when-there.ts';

/**
 * A change of the page as a document of its own would make it: for whoever listens its title is said, and the focus
 * moves from the link, which may be gone, to the page's heading. The browser itself does so for the first page.
 */
export function PageChange() {
  const { pathname } = useLocation();
  const shown = useRef(pathname);
  const [title, setTitle] = useState('');
  useEffect(() => {
    if (shown.current === pathname) {
      return undefined;
    }
    shown.current = pathname;
    const { activeElement } = document;
    return whenThere(
      () => document.querySelector('main h1'),
      heading => {
        setTitle(document.title);
        // Who went somewhere else while the page was loaded stays there.
        if ([document.body, activeElement].includes(document.activeElement)) {
          focusHeading(heading);
        }
      },
    );
  }, [pathname]);
  // Not a status: those of a page are about what happens within it.
  return (
    <p aria-live="polite" className="sr-only">
      {title}
    </p>
  );
}

/** Where the page is scrolled to is for others to say. */
function focusHeading(heading: HTMLElement) {
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.addEventListener('blur', () => heading.removeAttribute('tabindex'), { once: true });
}
