import { ButtonLink, MissingLink } from '@site/kit/button.tsx';
import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { Listing } from './listing.ts';

interface PagesProps {
  listing: Pick<Listing, 'page' | 'pages'>;
  /** What the addresses of the pages lead to, as in `#articles`. */
  hash: string;
}

/** The way to the other pages of the list. */
export function Pages({ listing: { page, pages }, hash }: PagesProps) {
  const nav = useRef<HTMLElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    // The step that was pressed may lead nowhere on, and is gone: whoever turns pages by keyboard is not thrown out.
    if (shown.current !== page && document.activeElement === document.body) {
      nav.current?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true });
    }
    shown.current = page;
  }, [page]);
  const step = (children: ReactNode, wanted: number) => {
    const path = pages.find(({ number }) => number === wanted)?.path;
    return (
      <Step to={path && path + hash} isCurrent={wanted === page}>
        {children}
      </Step>
    );
  };
  return (
    <nav ref={nav} aria-label="Pages" className="mt-10">
      <ul className="flex flex-wrap justify-center gap-2">
        <li>{step('Previous', page - 1)}</li>
        {pages.map(({ number }) => (
          <li key={number}>{step(number, number)}</li>
        ))}
        <li>{step('Next', page + 1)}</li>
      </ul>
    </nav>
  );
}

interface StepProps {
  /** Where it leads; nowhere, where no article fills the page yet. */
  to: string | undefined;
  isCurrent: boolean;
  children: ReactNode;
}

function Step({ to, isCurrent, children }: StepProps) {
  if (!to) {
    return (
      <MissingLink size="small" className="min-w-11">
        {children}
      </MissingLink>
    );
  }
  return (
    <ButtonLink
      to={to}
      size="small"
      kind={isCurrent ? 'chosen' : 'quiet'}
      aria-current={isCurrent ? 'page' : undefined}
      className="min-w-11"
    >
      {children}
    </ButtonLink>
  );
}
