import type { ChangeEventHandler, Ref } from 'react';
import { useId } from 'react';
import { QUERY } from './search-query.ts';

interface SearchFieldProps {
  ref: Ref<HTMLInputElement>;
  text: string;
  onChange: ChangeEventHandler<HTMLInputElement>;
  onFocus: () => void;
}

/** Field for the words that articles are searched for. What is found takes the place of the list below. */
export function SearchField({ ref, text, onChange, onFocus }: SearchFieldProps) {
  const id = useId();
  return (
    <div className="w-full noscript:hidden sm:w-72">
      <label htmlFor={id} className="font-medium text-small">
        Search articles
      </label>
      <input
        ref={ref}
        id={id}
        type="search"
        dir="auto"
        name={QUERY}
        value={text}
        onChange={onChange}
        onFocus={onFocus}
        autoComplete="off"
        className="mt-1.5 block min-h-11 w-full rounded-control border border-field-line bg-raised px-3.5 text-ink"
      />
    </div>
  );
}
