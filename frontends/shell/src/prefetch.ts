import { useLocation } from '@site/kit/router.ts';
import { useEffect } from 'react';
import { prefetchPage } from './routes.tsx';

/** Events that show a person's presence. Prefetching for other clients is wasted. */
const INTERACTION_EVENTS = ['pointermove', 'touchstart', 'keydown', 'scroll'] as const;

/**
 * Prefetches the pages of links in the viewport when the browser is idle, and of a hovered or focused link at
 * once.
 */
export function usePrefetch(): void {
  const { pathname } = useLocation();
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    document.addEventListener('pointerover', prefetchTarget, { signal });
    document.addEventListener('focusin', prefetchTarget, { signal });
    return () => listening.abort();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other links
  useEffect(() => {
    const viewport = new IntersectionObserver(entries => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          viewport.unobserve(target);
          prefetch(target);
        }
      }
    });
    let isOver = false;
    firstInteraction()
      .then(idle)
      .then(() => {
        // https://drafts.csswg.org/mediaqueries-5/#prefers-reduced-data
        if (!(isOver || matchMedia('(prefers-reduced-data: reduce)').matches)) {
          for (const link of document.querySelectorAll('a[href^="/"]')) {
            viewport.observe(link);
          }
        }
      });
    return () => {
      isOver = true;
      viewport.disconnect();
    };
  }, [pathname]);
}

function prefetchTarget({ target }: Event) {
  if (target instanceof Element) {
    prefetch(target.closest('a[href^="/"]'));
  }
}

function prefetch(link: Element | null) {
  if (link instanceof HTMLAnchorElement) {
    prefetchPage(link.pathname);
  }
}

let interaction: Promise<void> | undefined;

function firstInteraction(): Promise<void> {
  interaction ??= new Promise(resolve => {
    for (const name of INTERACTION_EVENTS) {
      window.addEventListener(name, () => resolve(), { once: true, passive: true });
    }
  });
  return interaction;
}

function idle(): Promise<void> {
  return new Promise(resolve => {
    // Safari has no requestIdleCallback.
    const wait = window.requestIdleCallback ?? setTimeout;
    wait(() => resolve());
  });
}
