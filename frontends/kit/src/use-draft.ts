import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { readSessionRecord, writeSessionRecord } from './session-record.ts';
import { showToast } from './toast-region.tsx';

const NOTHING: readonly string[] = [];

/**
 * Persists a form's draft: autosaves text fields to sessionStorage and restores them after a reload. The fields hold
 * their own values: so what was typed before the application started stays there, too. Fields named in `except` are left
 * out; it must be the same array each time. The form carries the draft's name as `data-draft`, and calls `save` on input.
 */
export function useDraft(name: string, except: readonly string[] = NOTHING) {
  const key = `draft:${name}`;
  const form = useRef<HTMLFormElement>(null);
  const saved = useRef('');
  const wasLost = useRef(false);

  const save = useCallback(() => {
    if (!form.current) {
      // It is told of a change before it has its draft back.
      return;
    }
    const values = fieldsOf(form.current)
      .filter(field => !except.includes(field.name))
      .map(field => [field.name, field.value]);
    const draft = Object.fromEntries(values);
    saved.current = JSON.stringify(draft);
    writeSessionRecord(key, draft);
  }, [key, except]);

  // Before anything else is typed: what React has just put in the place of the page's HTML gets the former values now.
  useLayoutEffect(() => {
    const draft = readSessionRecord(key);
    saved.current = JSON.stringify(draft);
    const fields = fieldsOf(form.current);
    const lost = fields.filter(field => !field.value && draft[field.name]);
    for (const field of lost) {
      field.value = draft[field.name] ?? '';
    }
    for (const field of lost) {
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    wasLost.current ||= lost.length > 0;
    if (fields.some(({ name, value }) => value && !except.includes(name))) {
      // What was typed before the application started is the draft from here on.
      save();
    }
  }, [key, except, save]);

  useEffect(() => {
    if (wasLost.current) {
      wasLost.current = false;
      showToast({
        kind: 'overlay',
        title: 'Your draft is back',
        text: 'We kept what you typed. Your browser forgets it with this tab.',
      });
    }
  }, []);

  /** Unless another form has changed it since. */
  const discard = useCallback(() => {
    // Where its visitor went away and came back, the draft is in another form by now, and maybe another one.
    if (JSON.stringify(readSessionRecord(key)) === saved.current) {
      writeSessionRecord(key, {});
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
