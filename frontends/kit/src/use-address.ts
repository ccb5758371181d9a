import { useEffect, useRef, useState } from 'react';
import { addressIn, atDomain, suggestedDomain, withAsciiDomain } from './email-address.ts';

/** After this pause in typing, an address counts as complete. */
const PAUSE_MS = 500;

/** Corrects the address in a field, and suggests a domain for a mistyped one. */
export function useAddress() {
  const field = useRef<HTMLInputElement>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [suggested, setSuggested] = useState<string>();
  useEffect(() => () => clearTimeout(pause.current), []);

  /** Runs during typing, so it makes only changes that do not disturb further input. */
  function find(input: HTMLInputElement) {
    const address = addressIn(input.value);
    if (address !== input.value) {
      input.value = address;
    }
  }

  /** Suggests a domain after a pause, because during typing a suggestion disturbs and shifts the layout. */
  function ask(address: string) {
    const domain = suggestedDomain(address);
    clearTimeout(pause.current);
    if (domain) {
      pause.current = setTimeout(() => setSuggested(domain), PAUSE_MS);
    }
    if (domain !== suggested) {
      setSuggested(undefined);
    }
  }

  /** Corrects an address that the browser refused, and submits again. Returns whether it submits. */
  function mend(input: HTMLInputElement): boolean {
    const address = withAsciiDomain(addressIn(input.value));
    const isMended = address !== input.value;
    if (isMended) {
      write(input, address);
      setTimeout(() => input.form?.requestSubmit());
    }
    setSuggested(suggestedDomain(address));
    return isMended;
  }

  function accept() {
    const input = field.current;
    if (input && suggested) {
      write(input, atDomain(input.value, suggested));
      input.focus();
    }
  }
  return { field, suggested, find, ask, mend, accept };
}

/** Dispatches `input`, as typing does, so that drafts and errors follow. */
function write(input: HTMLInputElement, value: string) {
  input.value = value;
  input.dispatchEvent(new Event('input', { bubbles: true }));
}
