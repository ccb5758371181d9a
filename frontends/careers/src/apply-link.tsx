import { ButtonLink } from '@site/kit/button.tsx';
import type { MouseEvent, ReactNode } from 'react';

interface ApplyLinkProps {
  to: string;
  onOpen: () => void;
  children: ReactNode;
}

/** Once hydrated, a plain click opens the form in a dialog instead of on its own page. */
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
