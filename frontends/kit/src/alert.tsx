import type { ComponentProps } from 'react';
import { takeFocus } from './focus.ts';

/** Takes the focus, so that nobody misses the error. */
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
