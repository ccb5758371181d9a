import { useEffect } from 'react';

/**
 * Prevents scrolling of the page behind a dialog or menu, together with `base.css`. The listener is for
 * Safari on iOS, where CSS alone does not prevent touch scrolling while the bars are collapsed. A stable
 * gutter keeps the page's width where a scrollbar takes space.
 */
export function useHeldPage(isHeld: boolean): void {
  useEffect(() => {
    const { documentElement: page } = document;
    if (window.innerWidth > page.clientWidth) {
      page.style.scrollbarGutter = 'stable';
    }
  }, []);
  useEffect(() => {
    if (!isHeld) {
      return undefined;
    }
    document.addEventListener('touchmove', hold, { passive: false });
    return () => document.removeEventListener('touchmove', hold);
  }, [isHeld]);
}

/** Two fingers may zoom. Scrollable elements may scroll: `overscroll-behavior` keeps the page still. */
function hold(event: TouchEvent) {
  const { touches, target } = event;
  const isHeld = getComputedStyle(document.documentElement).overflowY === 'hidden';
  if (isHeld && touches.length === 1 && target instanceof Element && !scrolls(target)) {
    event.preventDefault();
  }
}

function scrolls(element: Element): boolean {
  const isScrollable = element.scrollHeight > element.clientHeight;
  return (
    (isScrollable && /auto|scroll/.test(getComputedStyle(element).overflowY)) ||
    (element.parentElement !== null &&
      element.parentElement !== document.body &&
      scrolls(element.parentElement))
  );
}
