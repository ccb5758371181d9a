import { retry } from '@site/kit/retry.ts';
import type { ComponentType, LazyExoticComponent } from 'react';
import { lazy } from 'react';

/** A page of the shell that is loaded when it is first shown. */
export function lazyPage(
  load: () => Promise<{ default: ComponentType }>,
): LazyExoticComponent<ComponentType> {
  return lazy(() => retry(load));
}
