import type { RefObject } from 'react';
import { useCallback, useEffect, useRef } from 'react';
import { showToast } from './toast-region.tsx';

/** Handlers by which a form keeps a draft; it carries the draft's name as `data-draft`. */
interface Draft {
  form: RefObject<HTMLFormElement | null>;
  /** For the form's `onInput`. */
  save: () => void;
  /** Unless another form has changed it since. */
  discard: () => void;
}

const NOTHING: readonly string[] = [];

/**
 * Persists a form's draft: autosaves text fields to sessionStorage and restores them after a reload. The fields hold
 * their own values: so what was typed before the application started stays there, too. Fields named in `except` are left
 * out; it must be the same array each time.
 */
export function useDraft(name: string, except: readonly string[] = NOTHING): Draft {
  const key = `draft:${name}`;
  const form = useRef<HTMLFormElement>(null);
  const saved = useRef('');

  useEffect(() => {
    const draft = readDraft(key);
    saved.current = JSON.stringify(draft);
    const lost = fieldsOf(form.current).filter(field => !field.value && draft[field.name]);
    for (const field of lost) {
      field.value = draft[field.name] ?? '';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    if (lost.length > 0) {
      showToast({
        kind: 'overlay',
        title: 'Your draft is back',
        text: 'We kept what you typed. Your browser forgets it with this tab.',
      });
    }
  }, [key]);

  const save = useCallback(() => {
    const values = fieldsOf(form.current)
      .filter(field => !except.includes(field.name))
      .map(field => [field.name, field.value]);
    saved.current = JSON.stringify(Object.fromEntries(values));
    writeDraft(key, saved.current);
  }, [key, except]);
  const discard = useCallback(() => {
    // Where its visitor went away and came back, the draft is in another form by now, and maybe another one.
    if (JSON.stringify(readDraft(key)) === saved.current) {
      writeDraft(key, null);
      document.querySelector<HTMLFormElement>(`form[data-draft="${name}"]`)?.reset();
    }
  }, [key, name]);
  return { form, save, discard };
}

type TextControl = HTMLInputElement | HTMLTextAreaElement;

function fieldsOf(form: HTMLFormElement | null): TextControl[] {
  return Array.from(form?.elements ?? []).filter(isTextControl);
}

function isTextControl(element: Element): element is TextControl {
  return (
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement && element.type !== 'file')
  );
}

/** Storage may be full or forbidden; then there is no draft, and the form works all the same. */
function readDraft(key: string): Record<string, string> {
  try {
    const draft: unknown = JSON.parse(sessionStorage.getItem(key) ?? '{}');
    const entries = Object.entries(draft ?? {});
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}

function writeDraft(key: string, draft: string | null) {
  try {
    if (draft === null) {
      sessionStorage.removeItem(key);
    } else {
      sessionStorage.setItem(key, draft);
    }
  } catch {
    // See `readDraft`.
  }
}
