import { Link } from '@site/kit/router.ts';
import type { ComponentProps } from 'react';
import { hearEarlyPress } from './early-press.ts';

const baseClasses =
  'inline-flex min-h-12 cursor-pointer items-center justify-center rounded-control px-5 font-semibold ' +
  'no-underline data-[size=small]:min-h-11 data-[size=small]:px-4 data-[size=small]:text-small ' +
  'disabled:cursor-default disabled:opacity-60 data-[variant=primary]:bg-seen data-[variant=primary]:text-on-seen ' +
  'data-[variant=secondary]:border data-[variant=secondary]:border-field-line data-[variant=secondary]:text-ink ' +
  'data-[variant=selected]:bg-ink data-[variant=selected]:text-paper';

interface ButtonStyle {
  variant?: 'primary' | 'secondary' | 'selected';
  size?: 'normal' | 'small';
}

/** A button with a `ref` of its own misses presses from before hydration (`early-press.ts`). */
export function Button({
  ref = hearEarlyPress,
  variant = 'primary',
  size = 'normal',
  className = '',
  type = 'button',
  ...rest
}: ComponentProps<'button'> & ButtonStyle) {
  return (
    <button
      {...rest}
      ref={ref}
      type={type}
      data-variant={variant}
      data-size={size}
      className={`${baseClasses} ${className}`}
    />
  );
}

export function ButtonLink({
  variant = 'primary',
  size = 'normal',
  className = '',
  ...rest
}: ComponentProps<typeof Link> & ButtonStyle) {
  return (
    <Link
      {...rest}
      data-variant={variant}
      data-size={size}
      className={`${baseClasses} ${className}`}
    />
  );
}
