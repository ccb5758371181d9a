/** Focuses an element that is not focusable, such as a heading, without scrolling. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
}

/** Ref callback: focuses an element when it appears. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
