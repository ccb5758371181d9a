import type { ComponentProps, ReactNode, RefObject } from 'react';
import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface ConfirmationProps {
  title: string;
  ref?: RefObject<HTMLDivElement | null>;
  children: ReactNode;
}

/** What went well, in place of what led there. It takes the focus, so that nobody misses it. */
export function Confirmation({ title, ref, children }: ConfirmationProps) {
  const own = useRef<HTMLDivElement>(null);
  const box = ref ?? own;
  useEffect(() => box.current?.focus(), [box]);
  return (
    <div ref={box} role="status" tabIndex={-1} className="border border-line bg-raised p-8">
      <p className="text-heading">{title}</p>
      <p className="mt-3 max-w-text text-ink-2">{children}</p>
    </div>
  );
}

/** What went wrong, and what to do about it. It takes the focus, so that nobody misses it. */
export function Alert({ children, ...rest }: ComponentProps<'p'>) {
  const box = useRef<HTMLParagraphElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <p
      {...rest}
      ref={box}
      role="alert"
      tabIndex={-1}
      className="mb-5 border-alert border-l-4 bg-sunk px-4 py-3 text-alert-ink"
    >
      {children}
    </p>
  );
}

interface DidNotLoadProps {
  /** Which part, as in "This part of the site". */
  what: string;
  /** What helps, and what works without it. */
  advice: string;
  onRetry: () => void;
  className?: string;
}

/** What stands in the place of something that did not load. */
export function DidNotLoad({ what, advice, onRetry, className }: DidNotLoadProps) {
  return (
    <div role="alert" className={className}>
      <p className="max-w-text text-lead">{what} did not load.</p>
      <p className="mt-2 mb-6 max-w-text text-ink-2">{advice}</p>
      <Button kind="quiet" onClick={onRetry}>
        Retry
      </Button>
    </div>
  );
}
