import type { ComponentProps } from 'react';

/** A raised box for one thing of a kind. */
export function Card({ className = '', ...rest }: ComponentProps<'article'>) {
  return <article {...rest} className={`border border-line bg-raised p-6 ${className}`} />;
}
