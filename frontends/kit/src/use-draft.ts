import { useCallback, useEffect, useState } from 'react';

/**
 * What a visitor has typed into a form, kept for the tab so that an accidental reload loses none of
 * it. Returns the values, a way to change some of them, and one to forget them.
 */
export function useDraft<Values extends Record<string, string>>(name: string, empty: Values) {
  const key = `draft:${name}`;
  // A form's empty values never change; the first ones stand for all.
  const [start] = useState(empty);
  const [values, setValues] = useState(start);

  useEffect(() => setValues({ ...start, ...stored(key) }), [key, start]);

  const change = useCallback(
    (changed: Partial<Values>) =>
      setValues(before => {
        const after = { ...before, ...changed };
        store(key, JSON.stringify(after));
        return after;
      }),
    [key],
  );
  const forget = useCallback(() => {
    store(key, null);
    setValues(start);
  }, [key, start]);
  return [values, change, forget] as const;
}

/** Storage may be full or forbidden; then there is no draft, and the form works all the same. */
function stored(key: string): Record<string, string> {
  try {
    const draft: unknown = JSON.parse(sessionStorage.getItem(key) ?? '{}');
    const entries = Object.entries(draft ?? {});
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}

function store(key: string, draft: string | null) {
  try {
    if (draft === null) {
      sessionStorage.removeItem(key);
    } else {
      sessionStorage.setItem(key, draft);
    }
  } catch {
    // See `stored`.
  }
}
