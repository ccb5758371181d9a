import type { ComponentProps } from 'react';

/** A raised box for one thing of a kind. Pointed at, it gets the corners of what the machine looks at. */
export function Card({ className = '', ...rest }: ComponentProps<'article'>) {
  return <article {...rest} className={`card-seen border border-line bg-raised ${className}`} />;
}
