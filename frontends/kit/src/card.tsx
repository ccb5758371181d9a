import type { ComponentProps } from 'react';
import { useReveal } from './reveal.tsx';

interface CardProps extends ComponentProps<'article'> {
  /** After this time it is revealed. */
  delayMs?: number | undefined;
}

/** A raised box for one thing of a kind. Pointed at, it gets the corners of what the machine looks at. */
export function Card({ className = '', delayMs, ...rest }: CardProps) {
  return (
    <article
      {...rest}
      {...useReveal<HTMLElement>(delayMs)}
      className={`card-seen border border-line bg-raised ${className}`}
    />
  );
}
