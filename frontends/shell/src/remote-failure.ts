import type { components } from '@site/kit/api.gen.ts';

/** A part of the site that did not load, as operators learn of it. */
export type RemoteFailure = components['schemas']['RemoteFailure'];

/** Tells the operators. Nobody waits for the answer. */
export function reportFailure(failure: RemoteFailure): void {
  fetch('/api/remote-failure', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(failure),
  }).catch(() => undefined);
}
