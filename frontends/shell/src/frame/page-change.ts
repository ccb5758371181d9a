import { isServed } from '@site/kit/chunk-loading.ts';
import { PAGE_HEADING } from '@site/kit/lazy-area.tsx';
import type { RefObject } from 'react';
import { useLayoutEffect } from 'react';
import { waitForElement } from './wait-for-element.ts';

// A page is being changed from when its address is the browser's until its heading is there. What fails meanwhile, be it in
// React, in an extension or on the network, has the browser load the page: its HTML needs none of our scripts. A page that was
// loaded is never loaded again for a failure of its own.

/** Path of the page that React shows; none before it has hydrated the first one. */
let rendered: string | undefined;
/** Whether that page's heading is there. */
let isComplete = true;
/** Whether it came in the place of the one that was loaded. */
let hasChanged = false;
let isLoading = false;

/** Loads the page whose change fails by an error that nobody catches; to be called before React starts. */
export function watchPageChanges(): void {
  // An event without an error tells of no failure: that an observer of sizes was not done, for example.
  window.addEventListener('error', ({ error }) => error && loadChangedPage());
  window.addEventListener('unhandledrejection', loadChangedPage);
}

/** Loads the page that is being changed, if one is. */
function loadChangedPage(): void {
  if (isChanging()) {
    load();
  }
}

/** Loads the page that an error has left nothing of. By a failure to remove the page before, its heading may be there still. */
export function loadLostPage(): void {
  if (hasChanged || isChanging()) {
    load();
  }
}

function load() {
  if (!isLoading) {
    isLoading = true;
    // Where the page before was scrolled to, the browser would scroll this one.
    window.scrollTo(0, 0);
    location.reload();
  }
}

/** The same, unless the server is away, too: then what is shown says more than the browser would. */
export async function loadChangedPageIfServed(): Promise<void> {
  if (isChanging() && (await isServed(location.href))) {
    loadChangedPage();
  }
}

/** Watches the page at a path come. */
export function usePageChange(pathname: string, main: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    isComplete = rendered === undefined;
    hasChanged ||= !isComplete;
    rendered = pathname;
    // Somebody has put other elements in the place of React's: nothing that it renders is seen.
    if (!main.current?.isConnected) {
      loadChangedPage();
    }
    let timeout: ReturnType<typeof setTimeout>;
    const stop = waitForElement(
      () => main.current?.querySelector<HTMLElement>(PAGE_HEADING) ?? null,
      () => {
        // What failed while the page was put in its place is told only after that.
        timeout = setTimeout(() => {
          isComplete = true;
        });
      },
    );
    return () => {
      stop();
      clearTimeout(timeout);
    };
  }, [pathname, main]);
}

function isChanging(): boolean {
  return rendered !== undefined && (!isComplete || location.pathname !== rendered);
}
