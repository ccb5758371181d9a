import type { ComponentProps } from 'react';
import { useId } from 'react';
import { QUERY } from './search-query.ts';

export function SearchField(props: ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="w-full noscript:hidden sm:w-72">
      <label htmlFor={id} className="font-medium text-small">
        Search articles
      </label>
      <input
        {...props}
        id={id}
        type="search"
        dir="auto"
        name={QUERY}
        autoComplete="off"
        className="mt-1.5 block min-h-11 w-full rounded-control border border-field-line bg-raised px-3.5 text-ink"
      />
    </div>
  );
}
