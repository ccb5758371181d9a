import type { ComponentProps } from 'react';
import { Link } from './router.ts';

const look =
  'inline-flex min-h-12 items-center justify-center rounded-control px-5 font-semibold no-underline ' +
  'disabled:opacity-60 data-[kind=main]:bg-seen data-[kind=main]:text-on-seen ' +
  'data-[kind=quiet]:border data-[kind=quiet]:border-field-line data-[kind=quiet]:text-ink';

type Kind = 'main' | 'quiet';

/** Something to press that acts on this page. */
export function Button({
  kind = 'main',
  className = '',
  type = 'button',
  ...rest
}: ComponentProps<'button'> & { kind?: Kind }) {
  return <button {...rest} type={type} data-kind={kind} className={`${look} ${className}`} />;
}

/** A link that looks like a button. */
export function ButtonLink({
  kind = 'main',
  className = '',
  ...rest
}: ComponentProps<typeof Link> & { kind?: Kind }) {
  return <Link {...rest} data-kind={kind} className={`${look} ${className}`} />;
}
