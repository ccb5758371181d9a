import type { ComponentProps, InputEvent, ReactNode } from 'react';
import { useId, useState } from 'react';

interface Words {
  label: string;
  /** What is wrong with the value, said beside the field and read out with it. */
  error?: string | undefined;
}

/** What a field accepts of an element; it listens to the input itself. */
type Native<Element extends 'input' | 'textarea'> = Omit<ComponentProps<Element>, 'onInput'>;

/** From this part of the limit on, visitors are told how much is left. */
const NEAR = 0.9;

const look =
  'mt-1.5 block w-full rounded-control border border-field-line bg-raised px-3.5 py-3 text-ink ' +
  'disabled:opacity-60 aria-invalid:border-2 aria-invalid:border-alert';

/** A line of text to fill in. */
export function Field({
  label,
  error,
  maxLength,
  className = '',
  ...rest
}: Native<'input'> & Words) {
  const id = useId();
  const limit = useLimit(maxLength);
  return (
    <Labelled
      id={id}
      name={rest.name}
      label={label}
      isOptional={!rest.required}
      error={error}
      left={limit.left}
    >
      <input
        {...rest}
        id={id}
        onInput={limit.check}
        {...described(id, !rest.required, error, limit.left)}
        className={`${look} ${className}`}
      />
    </Labelled>
  );
}

/** Several lines of text to fill in. */
export function TextField({
  label,
  error,
  maxLength,
  className = '',
  ...rest
}: Native<'textarea'> & Words) {
  const id = useId();
  const limit = useLimit(maxLength);
  return (
    <Labelled
      id={id}
      name={rest.name}
      label={label}
      isOptional={!rest.required}
      error={error}
      left={limit.left}
    >
      <textarea
        {...rest}
        id={id}
        onInput={limit.check}
        {...described(id, !rest.required, error, limit.left)}
        className={`${look} ${className}`}
      />
    </Labelled>
  );
}

/**
 * Watches a limit in characters. The attribute `maxlength` would cut off what is pasted, and nobody would
 * notice; so everything is kept, and what is too long is said.
 */
function useLimit(most = Number.POSITIVE_INFINITY) {
  const [left, setLeft] = useState<number>();
  function check({ currentTarget: field }: InputEvent<HTMLInputElement | HTMLTextAreaElement>) {
    const length = Array.from(field.value).length;
    setLeft(length >= most * NEAR ? most - length : undefined);
    field.setCustomValidity(
      length > most ? `Use at most ${most.toLocaleString('en')} characters.` : '',
    );
  }
  return { left, check };
}

interface Around extends Words {
  id: string;
  name: string | undefined;
  isOptional: boolean;
  /** How many characters are left, where that is few. */
  left: number | undefined;
}

function Labelled({
  id,
  name,
  label,
  isOptional,
  error,
  left,
  children,
}: Around & { children: ReactNode }) {
  return (
    <div className="mb-4">
      <label htmlFor={id} className="font-medium text-small">
        {label}
      </label>
      {/* Beside the label, whose words are the specification's. */}
      {isOptional ? (
        <span id={`${id}-optional`} className="text-ink-2 text-small">
          {' (optional)'}
        </span>
      ) : null}
      {children}
      {error ? (
        <p id={`${id}-error`} data-error-of={name} className="mt-1.5 text-alert-ink text-small">
          {error}
        </p>
      ) : null}
      {left === undefined ? null : (
        <p
          id={`${id}-limit`}
          data-over={left < 0}
          className="mt-1.5 text-ink-2 text-small tabular-nums data-[over=true]:text-alert-ink"
        >
          {left < 0
            ? `${(-left).toLocaleString('en')} characters too many`
            : `${left.toLocaleString('en')} characters left`}
        </p>
      )}
    </div>
  );
}

function described(
  id: string,
  isOptional: boolean,
  error: string | undefined,
  left: number | undefined,
) {
  const by = [
    isOptional ? `${id}-optional` : '',
    error ? `${id}-error` : '',
    left === undefined ? '' : `${id}-limit`,
  ].filter(Boolean);
  return {
    'aria-invalid': error ? true : undefined,
    'aria-describedby': by.length > 0 ? by.join(' ') : undefined,
  };
}
