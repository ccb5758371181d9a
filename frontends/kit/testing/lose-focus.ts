/** Removes the focus. Browsers do so when an element is disabled or removed, but happy-dom does not. */
export function loseFocus(): void {
  const other = document.body.appendChild(document.createElement('input'));
  other.focus();
  other.remove();
}
