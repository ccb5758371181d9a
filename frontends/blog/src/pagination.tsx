import { ButtonLink, DisabledLink } from '@site/kit/button.tsx';
import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { Listing } from './listing.ts';

interface PaginationProps {
  listing: Pick<Listing, 'page' | 'pages'>;
  /** Fragment of the pages' addresses, as in `#articles`. */
  hash: string;
}

/** Pagination of the post list. */
export function Pagination({ listing: { page, pages }, hash }: PaginationProps) {
  const nav = useRef<HTMLElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    // The link that was pressed may lead nowhere on, and is gone: whoever turns pages by keyboard is not thrown out.
    if (shown.current !== page && document.activeElement === document.body) {
      nav.current?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true });
    }
    shown.current = page;
  }, [page]);
  const link = (children: ReactNode, wanted: number) => {
    const path = pages.find(({ number }) => number === wanted)?.path;
    return (
      <PageLink to={path && path + hash} isCurrent={wanted === page}>
        {children}
      </PageLink>
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

interface PageLinkProps {
  /** Target of the link; without one, no article fills the page yet. */
  to: string | undefined;
  isCurrent: boolean;
  children: ReactNode;
}

function PageLink({ to, isCurrent, children }: PageLinkProps) {
  if (!to) {
    return (
      <DisabledLink size="small" className="min-w-11">
        {children}
      </DisabledLink>
    );
  }
  return (
    <ButtonLink
      to={to}
      size="small"
      variant={isCurrent ? 'selected' : 'secondary'}
      aria-current={isCurrent ? 'page' : undefined}
      className="min-w-11"
    >
      {children}
    </ButtonLink>
  );
}
