import { useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { readSessionRecord, writeSessionRecord } from './session-record.ts';
import { showToast } from './toast-region.tsx';

const NOTHING: readonly string[] = [];

/**
 * Draft of a form: saves text fields to sessionStorage, and restores them after a reload. The fields are
 * uncontrolled, so text typed before hydration stays. `except` names fields to omit, and must be the same
 * array in each render. The form has the draft's name as `data-draft`, and calls `save` on input.
 */
export function useDraft(name: string, except: readonly string[] = NOTHING) {
  const key = `draft:${name}`;
  const form = useRef<HTMLFormElement>(null);
  const saved = useRef('');
  const wasLost = useRef(false);

  const save = useCallback(() => {
    if (!form.current) {
      // An input event may come before the form's ref is set.
      return;
    }
    const values = fieldsOf(form.current)
      .filter(field => !except.includes(field.name))
      .map(field => [field.name, field.value]);
    const draft = Object.fromEntries(values);
    saved.current = JSON.stringify(draft);
    writeSessionRecord(key, draft);
  }, [key, except]);

  // A layout effect restores the values before the visitor can type into new elements.
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
      // Text typed before hydration becomes the draft.
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

  /** Discards the draft, unless a new form has changed it after the visitor left and returned. */
  const discard = useCallback(() => {
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
