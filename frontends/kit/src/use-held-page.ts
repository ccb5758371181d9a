import { useEffect } from 'react';

/**
 * Holds the page behind what is open above it, beside the styles that do (`base.css`): Safari on iOS moves a page by touches all
 * the same while its bars are collapsed, and where a page has a bar to scroll by, the page would be wider without.
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

/** Two fingers zoom. What scrolls by itself does not pass it on to the page (`overscroll-behavior`). */
function hold(event: TouchEvent) {
  const { touches, target } = event;
  const isHeld = getComputedStyle(document.documentElement).overflowY === 'hidden';
  if (isHeld && touches.length === 1 && target instanceof Element && !scrolls(target)) {
    event.preventDefault();
  }
}

/** Whether an element, or one around it, has more to show than it has room for. */
function scrolls(element: Element): boolean {
  const isScrollable = element.scrollHeight > element.clientHeight;
  return (
    (isScrollable && /auto|scroll/.test(getComputedStyle(element).overflowY)) ||
    (element.parentElement !== null &&
      element.parentElement !== document.body &&
      scrolls(element.parentElement))
  );
}
