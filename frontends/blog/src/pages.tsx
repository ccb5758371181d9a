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
    <Step
      state={to === page ? 'current' : isThere(to) ? 'there' : 'missing'}
      onTurn={() => onTurn(to)}
    >
      {children}
    </Step>
  );
  return (
    <nav aria-label="Pages" className="mt-10">
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
  state: 'current' | 'there' | 'missing';
  onTurn: () => void;
  children: ReactNode;
}

/** It keeps the focus whatever becomes of it, so that whoever turns pages by keyboard is not thrown out. */
function Step({ state, onTurn, children }: StepProps) {
  return (
    <Button
      size="small"
      kind={state === 'current' ? 'chosen' : 'quiet'}
      aria-current={state === 'current' ? 'page' : undefined}
      aria-disabled={state === 'missing'}
      onClick={state === 'there' ? onTurn : undefined}
      className="min-w-11 aria-disabled:cursor-not-allowed aria-disabled:opacity-60"
    >
      {children}
    </Button>
  );
}
