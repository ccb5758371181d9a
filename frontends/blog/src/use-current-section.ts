import { useEffect, useState } from 'react';
import type { Heading } from './post.ts';

/** A heading counts once it is in the upper third of the viewport, or above it. */
const READ = '100000px 0px -66%';

export function useCurrentSection(headings: readonly Heading[]): string | undefined {
  const [current, setCurrent] = useState<string>();
  useEffect(() => {
    const begun = new Set<string>();
    const observer = new IntersectionObserver(
      entries => {
        for (const { isIntersecting, target } of entries) {
          begun[isIntersecting ? 'add' : 'delete'](target.id);
        }
        setCurrent(headings.findLast(({ id }) => begun.has(id))?.id);
      },
      { rootMargin: READ },
    );
    for (const { id } of headings) {
      const heading = document.getElementById(id);
      if (heading) {
        observer.observe(heading);
      }
    }
    return () => observer.disconnect();
  }, [headings]);
  return current;
}
