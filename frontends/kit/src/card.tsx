import type { ComponentProps } from 'react';
import { useReveal } from './reveal.tsx';

type CardProps = ComponentProps<'article'> & { delayMs?: number | undefined };

/** Card that is revealed `delayMs` after it scrolls into view. On hover it shows corner brackets. */
export function Card({ className = '', delayMs, ...rest }: CardProps) {
  return (
    <article
      {...rest}
      {...useReveal<HTMLElement>(delayMs)}
      className={`card-seen border border-line bg-raised ${className}`}
    />
  );
}
