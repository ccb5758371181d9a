import type { ComponentProps } from 'react';
import { useReveal } from './reveal.tsx';

type CardProps = ComponentProps<'article'> & { delayMs?: number | undefined };

/**
 * A raised box for one thing of a kind, revealed `delayMs` after it comes into view. Pointed at, it gets the corners of what
 * the machine looks at.
 */
export function Card({ className = '', delayMs, ...rest }: CardProps) {
  return (
    <article
      {...rest}
      {...useReveal<HTMLElement>(delayMs)}
      className={`card-seen border border-line bg-raised ${className}`}
    />
  );
}
