import { ButtonLink } from '@site/kit/button.tsx';
import type { MouseEvent, ReactNode } from 'react';

interface ApplyLinkProps {
  /** The page with the form. */
  to: string;
  /** Opens the form here. */
  onOpen: () => void;
  children: ReactNode;
}

/** Leads to the form's own page; once the page is hydrated it opens the form here, unless another tab or window is asked for. */
export function ApplyLink({ to, onOpen, children }: ApplyLinkProps) {
  function open(event: MouseEvent) {
    const isElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!isElsewhere) {
      event.preventDefault();
      onOpen();
    }
  }
  return (
    <ButtonLink to={to} onClick={open}>
      {children}
    </ButtonLink>
  );
}
