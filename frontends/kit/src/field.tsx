import type { ComponentProps, ReactNode } from 'react';
import { useId } from 'react';

interface Words {
  label: string;
  /** What is wrong with the value, said beside the field and read out with it. */
  error?: string | undefined;
}

const look =
  'mt-1.5 block w-full rounded-control border border-field-line bg-raised px-3.5 py-3 text-ink ' +
  'aria-invalid:border-2 aria-invalid:border-alert';

/** A line of text to fill in. */
export function Field({ label, error, className = '', ...rest }: ComponentProps<'input'> & Words) {
  const id = useId();
  return (
    <Labelled id={id} label={label} error={error}>
      <input {...rest} id={id} {...described(id, error)} className={`${look} ${className}`} />
    </Labelled>
  );
}

/** Several lines of text to fill in. */
export function TextField({
  label,
  error,
  className = '',
  ...rest
}: ComponentProps<'textarea'> & Words) {
  const id = useId();
  return (
    <Labelled id={id} label={label} error={error}>
      <textarea {...rest} id={id} {...described(id, error)} className={`${look} ${className}`} />
    </Labelled>
  );
}

function Labelled({ id, label, error, children }: Words & { id: string; children: ReactNode }) {
  return (
    <div className="mb-4">
      <label htmlFor={id} className="font-medium text-small">
        {label}
      </label>
      {children}
      {error ? (
        <p id={`${id}-error`} className="mt-1.5 text-alert-ink text-small">
          {error}
        </p>
      ) : null}
    </div>
  );
}

function described(id: string, error: string | undefined) {
  return error ? { 'aria-invalid': true, 'aria-describedby': `${id}-error` } : {};
}
