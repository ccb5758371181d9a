import type { components } from './api.gen.ts';

/** A part of the site that did not load, as operators learn of it. */
export type PartFailure = components['schemas']['RemoteFailure'];

/** What was told of since the page was opened. */
const told = new Set<string>();

/** Tells the operators, once for the whole page. Nobody waits for the answer. */
export function reportFailure(failure: PartFailure): void {
  const body = JSON.stringify(failure);
  if (!told.has(body)) {
    told.add(body);
    const headers = { 'Content-Type': 'application/json' };
    fetch('/api/remote-failure', { method: 'POST', headers, body }).catch(() => undefined);
  }
}
