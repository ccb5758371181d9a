import type { ComponentProps, InputEvent, ReactNode } from 'react';
import { useId, useState } from 'react';

interface FieldTexts {
  label: string;
  /** Validation error of the value, said beside the field and read out with it. */
  error?: string | undefined;
}

/** Native attributes that a field accepts; it listens to the input itself. */
type Native<Element extends 'input' | 'textarea'> = Omit<ComponentProps<Element>, 'onInput'>;

/** From this fraction of the limit on, visitors are told how much is left. */
const WARN_FRACTION = 0.9;

const baseClasses =
  'mt-1.5 block w-full rounded-control border border-field-line bg-raised px-3.5 py-3 text-ink ' +
  'disabled:opacity-60 aria-invalid:border-2 aria-invalid:border-alert';

/**
 * What a browser takes as an address and no mail can go to, and the sentence for it: both the server's
 * (`crates/visitor/src/email.rs`), so that nobody learns of it only there.
 */
const UNMAILABLE = /^\.|\.\.|\.@|^[^@]{65}/;
const NO_ADDRESS = 'Enter an e-mail address such as name@company.com.';

/** One-line text input with its label and error. */
export function TextField({ label, error, maxLength, ...rest }: Native<'input'> & FieldTexts) {
  return (
    <Labelled label={label} error={error} maxCharacters={maxLength} {...rest}>
      {attributes => <input {...rest} {...attributes} />}
    </Labelled>
  );
}

/** Textarea with its label and error. */
export function TextAreaField({
  label,
  error,
  maxLength,
  ...rest
}: Native<'textarea'> & FieldTexts) {
  return (
    <Labelled label={label} error={error} maxCharacters={maxLength} {...rest}>
      {attributes => <textarea {...rest} {...attributes} />}
    </Labelled>
  );
}

/**
 * Watches a limit in characters, and the rule for e-mail addresses. The attribute `maxlength` would cut off what is pasted, and nobody would
 * notice; so everything is kept, and what is too long is said.
 */
function useLimit(maxCharacters = Number.POSITIVE_INFINITY) {
  const [left, setLeft] = useState<number>();
  function check({ currentTarget: field }: InputEvent<HTMLInputElement | HTMLTextAreaElement>) {
    const length = Array.from(field.value).length;
    setLeft(length >= maxCharacters * WARN_FRACTION ? maxCharacters - length : undefined);
    field.setCustomValidity(
      length > maxCharacters
        ? `Use at most ${maxCharacters.toLocaleString('en')} characters.`
        : field.type === 'email' && UNMAILABLE.test(field.value)
          ? NO_ADDRESS
          : '',
    );
  }
  return { left, check };
}

interface LabelledProps extends FieldTexts {
  name?: string | undefined;
  required?: boolean | undefined;
  className?: string | undefined;
  maxCharacters: number | undefined;
  children: (attributes: Attributes) => ReactNode;
}

/** Attributes that tie an element to its label, its hints and its error. */
interface Attributes {
  id: string;
  className: string;
  onInput: (event: InputEvent<HTMLInputElement | HTMLTextAreaElement>) => void;
  'aria-invalid': true | undefined;
  'aria-describedby': string | undefined;
}

function Labelled({
  label,
  error,
  name,
  required,
  className = '',
  maxCharacters,
  children,
}: LabelledProps) {
  const id = useId();
  const { left, check } = useLimit(maxCharacters);
  const describedBy = [
    required ? '' : `${id}-optional`,
    error ? `${id}-error` : '',
    left === undefined ? '' : `${id}-limit`,
  ].filter(Boolean);
  return (
    <div className="mb-4">
      <label htmlFor={id} className="font-medium text-small">
        {label}
      </label>
      {/* Beside the label, whose words are the specification's. */}
      {required ? null : (
        <span id={`${id}-optional`} className="text-ink-2 text-small">
          {' (optional)'}
        </span>
      )}
      {children({
        id,
        className: `${baseClasses} ${className}`,
        onInput: check,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy.join(' ') || undefined,
      })}
      {error ? (
        <p id={`${id}-error`} data-error-of={name} className="mt-1.5 text-alert-ink text-small">
          {error}
        </p>
      ) : null}
      {left === undefined ? null : (
        <p
          id={`${id}-limit`}
          data-over={left < 0}
          className="mt-1.5 text-ink-2 text-small [font-variant-numeric:tabular-nums] data-[over=true]:text-alert-ink"
        >
          {left < 0
            ? `${(-left).toLocaleString('en')} characters too many`
            : `${left.toLocaleString('en')} characters left`}
        </p>
      )}
    </div>
  );
}
