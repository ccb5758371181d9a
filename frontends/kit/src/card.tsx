import type { ComponentProps } from 'react';
import { after, useReveal } from './reveal.tsx';

interface CardProps extends ComponentProps<'article'> {
  /** Milliseconds after which it is revealed. */
  delay?: number | undefined;
}

/** A raised box for one thing of a kind. Pointed at, it gets the corners of what the machine looks at. */
export function Card({ className = '', delay, ...rest }: CardProps) {
  return (
    <article
      {...rest}
      {...useReveal<HTMLElement>()}
      style={after(delay)}
      className={`card-seen border border-line bg-raised ${className}`}
    />
  );
}
