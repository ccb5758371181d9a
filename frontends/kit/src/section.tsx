import type { ComponentProps } from 'react';
import { useId } from 'react';
import { Reveal } from './reveal.tsx';

interface SectionProps extends ComponentProps<'section'> {
  title: string;
  lead?: string;
  /** Position on wide screens: above the content or left of it. */
  heading?: 'above' | 'beside';
}

export function Section({
  title,
  lead,
  heading = 'above',
  className = '',
  children,
  ...rest
}: SectionProps) {
  const id = useId();
  const head = (
    <>
      <h2 id={id} className="text-heading">
        {title}
      </h2>
      {lead ? <p className="mt-3 max-w-text text-ink-2 text-lead">{lead}</p> : null}
    </>
  );
  return (
    <section {...rest} aria-labelledby={id} className={`border-line border-t ${className}`}>
      {heading === 'above' ? (
        <Reveal className={BOX}>
          {head}
          <div className="mt-8">{children}</div>
        </Reveal>
      ) : (
        <Reveal className={`${BOX} grid items-center gap-10 lg:grid-cols-form`}>
          <div>{head}</div>
          {children}
        </Reveal>
      )}
    </section>
  );
}

const BOX = 'mx-auto max-w-page px-5 py-16 md:px-8';
