import type { components } from './api.gen.ts';

type Report = components['schemas']['RemoteFailure'];

/** Load failure of a part of the site, as it is reported to the operators. */
export interface PartFailure {
  frontEnd: Report['remote'];
  reason: Report['reason'];
}

/** Bodies of the reports that were sent since the page was opened. */
const reported = new Set<string>();

/** Reports a load failure to the operators, once for the whole page. Nobody waits for the answer. */
export function reportFailure({ frontEnd, reason }: PartFailure): void {
  const body = JSON.stringify({ remote: frontEnd, reason } satisfies Report);
  if (!reported.has(body)) {
    reported.add(body);
    const headers = { 'Content-Type': 'application/json' };
    fetch('/api/remote-failure', { method: 'POST', headers, body }).catch(() => undefined);
  }
}
