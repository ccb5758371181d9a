/** Record in sessionStorage. It stays empty if storage is full or forbidden. */
export function readSessionRecord(name: string): Record<string, string> {
  try {
    const record: unknown = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    const entries = Object.entries(record ?? {});
    return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}

export function writeSessionRecord(name: string, record: Readonly<Record<string, string>>): void {
  try {
    if (Object.keys(record).length === 0) {
      sessionStorage.removeItem(name);
    } else {
      sessionStorage.setItem(name, JSON.stringify(record));
    }
  } catch {
    // Storage is full or forbidden.
  }
}
