import type { components } from '@site/kit/api.gen.ts';

/** A part of the site that did not load, as operators learn of it. */
export type RemoteFailure = components['schemas']['RemoteFailure'];

/** Tells the operators, without waiting for an answer. */
export function reportFailure(failure: RemoteFailure): void {
  const body = new Blob([JSON.stringify(failure)], { type: 'application/json' });
  navigator.sendBeacon('/api/remote-failure', body);
}
