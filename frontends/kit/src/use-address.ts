import { useEffect, useRef, useState } from 'react';
import { addressIn, atDomain, suggestedDomain, withAsciiDomain } from './email-address.ts';

/** So long a pause says that an address is written to its end. */
const PAUSE_MS = 500;

/** What a field for an address makes of what is entered, and the domain that is probably meant instead of the one in it. */
export function useAddress() {
  const field = useRef<HTMLInputElement>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [suggested, setSuggested] = useState<string>();
  useEffect(() => () => clearTimeout(pause.current), []);

  /** While it is being written: what does not touch what comes next. */
  function find(input: HTMLInputElement) {
    const address = addressIn(input.value);
    if (address !== input.value) {
      input.value = address;
    }
  }

  /** A question in the middle of a word would only be in the way, and it moves what is below. */
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

  /** Sends what the browser has refused once more, where it need not be refused. Says whether it does. */
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

/** As if the visitor wrote it: drafts and errors follow. */
function write(input: HTMLInputElement, value: string) {
  input.value = value;
  input.dispatchEvent(new Event('input', { bubbles: true }));
}
