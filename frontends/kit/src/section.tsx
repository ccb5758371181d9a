import type { ComponentProps } from 'react';
import { useId } from 'react';
import { Reveal } from './reveal.tsx';

/** A part of a page, named by its heading. */
export function Section({
  title,
  lead,
  className = '',
  children,
  ...rest
}: ComponentProps<'section'> & { title: string; lead?: string }) {
  const heading = useId();
  return (
    <section {...rest} aria-labelledby={heading} className={`border-line border-t ${className}`}>
      <Reveal className="mx-auto max-w-page px-5 py-16 md:px-8">
        <h2 id={heading} className="text-heading">
          {title}
        </h2>
        {lead ? <p className="mt-3 max-w-text text-ink-2 text-lead">{lead}</p> : null}
        <div className="mt-8">{children}</div>
      </Reveal>
    </section>
  );
}
