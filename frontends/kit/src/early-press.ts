/** Newly hydrated buttons that were pressed before hydration. */
const pressed: HTMLButtonElement[] = [];

/**
 * Ref callback of a button: repeats a press from before hydration, when the button had no listener. The
 * shell's `early-press.js` marks such buttons.
 */
export function hearEarlyPress(button: HTMLButtonElement | null): void {
  if (button) {
    button.addEventListener('click', () => button.removeAttribute('data-pressed'));
    pressIfUnheard(button);
  }
}

/** Repeats the press of a marked button, once all marked buttons are known. */
export function pressIfUnheard(button: HTMLButtonElement): void {
  // Submit buttons and popover buttons work without React.
  const needsReact = button.type === 'button' && !button.popoverTargetElement;
  if (button.dataset['pressed'] && needsReact) {
    pressed.push(button);
    queueMicrotask(pressAgain);
  }
}

/** Keeps the visitor's order, because a later choice may replace an earlier one. */
function pressAgain() {
  const unheard = pressed.splice(0).filter(({ dataset }) => dataset['pressed']);
  for (const button of unheard.sort((one, other) => timeOf(one) - timeOf(other))) {
    button.click();
  }
}

function timeOf({ dataset }: HTMLButtonElement): number {
  return Number(dataset['pressed']);
}
