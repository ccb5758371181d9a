/** Buttons that were pressed before they were hydrated, and have just been. */
const pressed: HTMLButtonElement[] = [];

/**
 * For the `ref` of a button: presses it again where it was pressed before React had hydrated it, and nobody heard. The shell's
 * `early-press.js` has marked it.
 */
export function hearEarlyPress(button: HTMLButtonElement | null): void {
  if (button) {
    button.addEventListener('click', () => button.removeAttribute('data-pressed'));
    pressIfUnheard(button);
  }
}

/** Presses a button again, once all are known, if one is marked. */
export function pressIfUnheard(button: HTMLButtonElement): void {
  // What sends a form or opens a menu works without React.
  const needsReact = button.type === 'button' && !button.popoverTargetElement;
  if (button.dataset['pressed'] && needsReact) {
    pressed.push(button);
    queueMicrotask(pressAgain);
  }
}

/** In the order of the visitor, who may have chosen one thing and then another. */
function pressAgain() {
  const unheard = pressed.splice(0).filter(({ dataset }) => dataset['pressed']);
  for (const button of unheard.sort((one, other) => timeOf(one) - timeOf(other))) {
    button.click();
  }
}

function timeOf({ dataset }: HTMLButtonElement): number {
  return Number(dataset['pressed']);
}
