/**
 * What the browser keeps under a name for as long as the tab is open. Storage may be full or forbidden: then nothing is
 * kept, and all else works all the same.
 */
export function readSessionRecord(name: string): Record<string, string> {
  try {
    const record: unknown = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    const entries = Object.entries(record ?? {});
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}

/** Keeps a record; an empty one is forgotten. */
export function writeSessionRecord(name: string, record: Readonly<Record<string, string>>): void {
  try {
    if (Object.keys(record).length === 0) {
      sessionStorage.removeItem(name);
    } else {
      sessionStorage.setItem(name, JSON.stringify(record));
    }
  } catch {
    // See above.
  }
}
