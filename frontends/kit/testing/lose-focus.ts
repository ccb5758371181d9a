/** Takes the focus away from wherever it is, as browsers do from what is disabled or removed: happy-dom does not. */
export function loseFocus(): void {
  const other = document.body.appendChild(document.createElement('input'));
  other.focus();
  other.remove();
}
