import { Button } from '@site/kit/button.tsx';
import type { ReactNode } from 'react';
import type { Listing } from './listing.ts';

interface PagesProps {
  listing: Pick<Listing, 'page' | 'pages'>;
  /** Called with the page to show. */
  onTurn: (page: number) => void;
}

/** The way to the other pages of the list. */
export function Pages({ listing: { page, pages }, onTurn }: PagesProps) {
  const isThere = (wanted: number) =>
    pages.some(({ number, state }) => number === wanted && state === 'there');
  const step = (children: ReactNode, to: number) => (
    <Step isThere={isThere(to)} onTurn={() => onTurn(to)}>
      {children}
    </Step>
  );
  return (
    <nav aria-label="Pages" className="mt-10">
      <ul className="flex flex-wrap justify-center gap-2">
        <li>{step('Previous', page - 1)}</li>
        {pages.map(({ number }) => (
          <li key={number}>
            {number === page ? (
              <Button size="small" kind="chosen" aria-current="page" className="min-w-11">
                {number}
              </Button>
            ) : (
              step(number, number)
            )}
          </li>
        ))}
        <li>{step('Next', page + 1)}</li>
      </ul>
    </nav>
  );
}

interface StepProps {
  isThere: boolean;
  onTurn: () => void;
  children: ReactNode;
}

/** It keeps the focus where its page is missing, so that whoever turns pages by keyboard is not thrown out. */
function Step({ isThere, onTurn, children }: StepProps) {
  return (
    <Button
      size="small"
      kind="quiet"
      aria-disabled={!isThere}
      onClick={isThere ? onTurn : undefined}
      className="min-w-11 aria-disabled:cursor-not-allowed aria-disabled:opacity-60"
    >
      {children}
    </Button>
  );
}
