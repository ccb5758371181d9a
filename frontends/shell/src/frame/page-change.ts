import { isServed } from '@site/kit/chunk-loading.ts';
import { PAGE_HEADING } from '@site/kit/lazy-area.tsx';
import type { RefObject } from 'react';
import { useLayoutEffect } from 'react';
import { waitForElement } from './wait-for-element.ts';

// A page change lasts from the URL change until the new heading is in the document. If anything fails
// meanwhile (React, an extension, the network), the browser loads the page, whose HTML needs no scripts. If a
// page that the browser has loaded fails, this module does not load it again.

/** Path that React shows, or nothing before hydration. */
let rendered: string | undefined;
let isComplete = true;
/** Whether React has changed the page since the browser loaded the document. */
let hasChanged = false;
let isLoading = false;

/** Call this before React starts. */
export function watchPageChanges(): void {
  // Events without an error are harmless, such as an unfinished `ResizeObserver` loop.
  window.addEventListener('error', ({ error }) => error && loadChangedPage());
  window.addEventListener('unhandledrejection', loadChangedPage);
}

function loadChangedPage(): void {
  if (isChanging()) {
    load();
  }
}

/**
 * Called on a render error. After a page change, the new heading does not prove success: React may have
 * failed to remove the previous page.
 */
export function loadLostPage(): void {
  if (hasChanged || isChanging()) {
    load();
  }
}

function load() {
  if (!isLoading) {
    isLoading = true;
    // Otherwise the browser would restore the scroll position of the previous page.
    window.scrollTo(0, 0);
    location.reload();
  }
}

/** If the server is unavailable, our error message says more than the browser's. */
export async function loadChangedPageIfServed(): Promise<void> {
  if (isChanging() && (await isServed(location.href))) {
    loadChangedPage();
  }
}

export function usePageChange(pathname: string, main: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    isComplete = rendered === undefined;
    hasChanged ||= !isComplete;
    rendered = pathname;
    // If an extension has replaced React's elements, nothing that React renders would show.
    if (!main.current?.isConnected) {
      loadChangedPage();
    }
    let timeout: ReturnType<typeof setTimeout>;
    const stop = waitForElement(
      () => main.current?.querySelector<HTMLElement>(PAGE_HEADING) ?? null,
      () => {
        // React reports errors of this commit only after it.
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
