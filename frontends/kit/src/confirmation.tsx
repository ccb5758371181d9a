import type { ReactNode, RefObject } from 'react';
import { useEffect, useRef } from 'react';

interface ConfirmationProps {
  title: string;
  ref?: RefObject<HTMLDivElement | null>;
  children: ReactNode;
}

/** Replaces a form, and takes the focus, so that nobody misses it. */
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
