import { useLocation } from '@site/kit/router.ts';
import { useEffect } from 'react';
import { prefetchPage } from './routes.tsx';

/** What tells that somebody is there, and that fetching pages ahead is not in vain. */
const SIGNS = ['pointermove', 'touchstart', 'keydown', 'scroll'] as const;

/**
 * Fetches pages before they are asked for, so that a click shows its page at once: those that links in view
 * lead to, when nothing else is to do, and the one whose link is pointed at or focused right away.
 */
export function usePrefetch(): void {
  const { pathname } = useLocation();
  useEffect(() => {
    document.addEventListener('pointerover', prefetchTarget);
    document.addEventListener('focusin', prefetchTarget);
    return () => {
      document.removeEventListener('pointerover', prefetchTarget);
      document.removeEventListener('focusin', prefetchTarget);
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has other links
  useEffect(() => {
    const inView = new IntersectionObserver(entries => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          inView.unobserve(target);
          prefetch(target);
        }
      }
    });
    let isOver = false;
    somebodyIsThere()
      .then(idle)
      .then(() => {
        const links = isOver || isSaving() ? [] : document.querySelectorAll('a[href^="/"]');
        for (const link of links) {
          inView.observe(link);
        }
      });
    return () => {
      isOver = true;
      inView.disconnect();
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

let sign: Promise<void> | undefined;

function somebodyIsThere(): Promise<void> {
  sign ??= new Promise(resolve => {
    for (const name of SIGNS) {
      window.addEventListener(name, () => resolve(), { once: true, passive: true });
    }
  });
  return sign;
}

function idle(): Promise<void> {
  return new Promise(resolve => {
    // Safari has no requestIdleCallback.
    const wait = window.requestIdleCallback ?? setTimeout;
    wait(() => resolve());
  });
}

/** https://drafts.csswg.org/mediaqueries-5/#prefers-reduced-data */
function isSaving(): boolean {
  return matchMedia('(prefers-reduced-data: reduce)').matches;
}
