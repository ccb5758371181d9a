import { onNear } from '@site/kit/on-near.ts';
import { retry } from '@site/kit/retry.ts';
import type { ComponentType } from 'react';
import { lazy, memo, Suspense, useEffect, useRef } from 'react';

/** A part of a page whose code is not fetched before `start`. */
export interface LatePart {
  Part: ComponentType;
  start: () => void;
}

/** Prepares a part of a page to be fetched later. */
export function latePart(load: () => Promise<{ default: ComponentType }>): LatePart {
  const started = Promise.withResolvers<void>();
  const Part = lazy(async () => {
    // Pages that are rendered ahead of time have all their parts.
    if (typeof window !== 'undefined') {
      await started.promise;
    }
    return retry(load);
  });
  return { Part, start: started.resolve };
}

/**
 * Shows a part whose code is fetched when it comes near the view. Memoised, because React gives up HTML
 * that it has not taken over yet when its parent renders.
 */
export const WhenNear = memo(({ part: { Part, start } }: { part: LatePart }) => {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => onNear(box.current, start), [start]);
  return (
    <div ref={box}>
      <Suspense fallback={<div className="min-h-96" />}>
        <Part />
      </Suspense>
    </div>
  );
});
