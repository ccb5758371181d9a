import type { MouseEvent, RefObject } from 'react';
import { useEffect } from 'react';

type Press = (event: MouseEvent<HTMLButtonElement>) => void;

/** Buttons that were pressed before they were hydrated, and have just been. */
const pressed: HTMLButtonElement[] = [];

/**
 * Presses a button again that was pressed before React had hydrated it, and nobody heard: the shell's `early-press.js` has marked
 * it. Returns what its `onClick` is to be.
 */
export function useEarlyPress(
  button: RefObject<HTMLButtonElement | null>,
  onClick: Press | undefined,
): Press {
  useEffect(() => {
    // What sends a form works without React.
    if (button.current?.dataset['pressed'] && button.current.type === 'button') {
      pressed.push(button.current);
      queueMicrotask(pressAgain);
    }
  }, [button]);
  return event => {
    delete event.currentTarget.dataset['pressed'];
    onClick?.(event);
  };
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
