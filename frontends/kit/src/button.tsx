import { Link } from '@site/kit/router.ts';
import type { ComponentProps } from 'react';

const look =
  'inline-flex min-h-12 cursor-pointer items-center justify-center rounded-control px-5 font-semibold ' +
  'no-underline data-[size=small]:min-h-11 data-[size=small]:px-4 data-[size=small]:text-small ' +
  'disabled:cursor-default disabled:opacity-60 data-[kind=main]:bg-seen data-[kind=main]:text-on-seen ' +
  'data-[kind=quiet]:border data-[kind=quiet]:border-field-line data-[kind=quiet]:text-ink ' +
  'data-[kind=chosen]:bg-ink data-[kind=chosen]:text-paper';

interface Look {
  /** The main action, another one, or the chosen one of several. */
  kind?: 'main' | 'quiet' | 'chosen';
  size?: 'normal' | 'small';
}

/** Something to press that acts on this page. */
export function Button({
  kind = 'main',
  size = 'normal',
  className = '',
  type = 'button',
  ...rest
}: ComponentProps<'button'> & Look) {
  return (
    <button
      {...rest}
      type={type}
      data-kind={kind}
      data-size={size}
      className={`${look} ${className}`}
    />
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  kind = 'main',
  size = 'normal',
  className = '',
  ...rest
}: ComponentProps<typeof Link> & Look) {
  return <Link {...rest} data-kind={kind} data-size={size} className={`${look} ${className}`} />;
}

/** A link that leads nowhere yet, and says so. */
export function MissingLink({
  size = 'normal',
  className = '',
  ...rest
}: ComponentProps<'a'> & Look) {
  return (
    <a
      {...rest}
      role="link"
      aria-disabled="true"
      data-kind="quiet"
      data-size={size}
      className={`${look} aria-disabled:cursor-not-allowed aria-disabled:opacity-60 ${className}`}
    />
  );
}
