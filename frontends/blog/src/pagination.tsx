import { ButtonLink } from '@site/kit/button.tsx';
import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { Listing } from './listing.ts';

interface PaginationProps {
  listing: Pick<Listing, 'page' | 'pages'>;
  /** URL fragment that each link adds to its path, such as `#articles`. */
  hash: string;
}

export function Pagination({ listing: { page, pages }, hash }: PaginationProps) {
  const nav = useRef<HTMLElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    // If a disabled link has replaced the pressed link, keep the focus in the pagination.
    if (shown.current !== page && document.activeElement === document.body) {
      nav.current?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true });
    }
    shown.current = page;
  }, [page]);
  const link = (children: ReactNode, wanted: number) => {
    const path = pages.find(({ number }) => number === wanted)?.path;
    const isCurrent = wanted === page;
    return (
      <ButtonLink
        // A new key mounts a new element, so that a disabled link does not keep the focus.
        key={path ? 'filled' : 'empty'}
        to={path && path + hash}
        role={path ? undefined : 'link'}
        aria-disabled={path ? undefined : true}
        aria-current={isCurrent ? 'page' : undefined}
        size="small"
        variant={isCurrent ? 'selected' : 'secondary'}
        className="min-w-11 aria-disabled:cursor-not-allowed aria-disabled:opacity-60"
      >
        {children}
      </ButtonLink>
    );
  };
  return (
    <nav ref={nav} aria-label="Pages" className="mt-10">
      <ul className="flex flex-wrap justify-center gap-2">
        <li>{link('Previous', page - 1)}</li>
        {pages.map(({ number }) => (
          <li key={number}>{link(number, number)}</li>
        ))}
        <li>{link('Next', page + 1)}</li>
      </ul>
    </nav>
  );
}
