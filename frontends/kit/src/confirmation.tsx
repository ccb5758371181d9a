import type { ComponentProps, ReactNode, RefObject } from 'react';
import { useEffect, useRef } from 'react';

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

/** For the `ref` of what takes the focus as soon as it is there. */
export function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

/** What went wrong, and what to do about it. It takes the focus, so that nobody misses it. */
export function Alert({ children, ...rest }: ComponentProps<'p'>) {
  return (
    <p
      {...rest}
      ref={takeFocus}
      role="alert"
      tabIndex={-1}
      className="mb-5 border-alert border-l-4 bg-sunk px-4 py-3 text-alert-ink"
    >
      {children}
    </p>
  );
}
