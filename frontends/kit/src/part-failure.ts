import type { components } from './api.gen.ts';

type Report = components['schemas']['RemoteFailure'];

export interface PartFailure {
  frontEnd: Report['remote'];
  reason: Report['reason'];
}

const reported = new Set<string>();

/** Reports a load failure once per page, without waiting for the response. */
export function reportFailure({ frontEnd, reason }: PartFailure): void {
  const body = JSON.stringify({ remote: frontEnd, reason } satisfies Report);
  if (!reported.has(body)) {
    reported.add(body);
    const headers = { 'Content-Type': 'application/json' };
    fetch('/api/remote-failure', { method: 'POST', headers, body }).catch(() => undefined);
  }
}
