import { loadCode } from '@site/kit/load-code.ts';
import type { ComponentType } from 'react';
import { lazy } from 'react';

/** A page that is loaded when it is first shown, or before. */
export interface LazyPage {
  Page: ComponentType;
  /** Fetches it ahead. Should that fail, it is fetched again when it is shown. */
  prefetch: () => void;
}

/** Prepares a page of the shell to be loaded. */
export function lazyPage(load: () => Promise<{ default: ComponentType }>): LazyPage {
  return {
    Page: lazy(() => loadCode(load)),
    prefetch() {
      load().catch(() => undefined);
    },
  };
}
