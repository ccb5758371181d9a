import { useLayoutEffect } from 'react';
import { firstInteraction, idle } from './prefetch.ts';
import type { VisitCounter } from './visit-counter.ts';

/** What browsers say of their visitor's wishes, and of a page that nobody sees yet, and TypeScript does not know. */
interface Told {
  globalPrivacyControl?: boolean;
  doNotTrack?: string | null;
}

/** Who reads without a movement is counted after this. */
const PATIENCE_MS = 10_000;

/**
 * Counts the page that is shown, unless its visitor objects: then nothing is loaded for it. It is no part of the first view, and
 * where it does not come nobody is told.
 */
export function useVisitCounter(page: string, path: string): void {
  // With what is shown, not some time after: who leaves at once has seen it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: two addresses of one page are one page that is shown
  useLayoutEffect(() => {
    visitCounter()?.then(counter => counter?.pageShown(path));
  }, [page]);
}

let counter: Promise<VisitCounter | undefined> | undefined;

function visitCounter(): typeof counter {
  if (!objects(navigator)) {
    counter ??= load().catch(() => undefined);
  }
  return counter;
}

/** Global Privacy Control (https://www.w3.org/TR/gpc/), and what was before it (https://www.w3.org/TR/tracking-dnt/). */
function objects({ globalPrivacyControl, doNotTrack }: Told): boolean {
  return globalPrivacyControl === true || doNotTrack === '1';
}

async function load(): Promise<VisitCounter> {
  await shown();
  await Promise.race([
    firstInteraction(),
    new Promise(resolve => setTimeout(resolve, PATIENCE_MS)),
  ]);
  await idle();
  const { countVisit } = await import(/* webpackChunkName: "visit-counter" */ './visit-counter.ts');
  return countVisit();
}

/** A page that is prerendered may never be seen (https://wicg.github.io/nav-speculation/prerendering.html). */
async function shown(): Promise<void> {
  if ('prerendering' in document && document.prerendering === true) {
    await new Promise(resolve => {
      document.addEventListener('prerenderingchange', resolve, { once: true });
    });
  }
}
