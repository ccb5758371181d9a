import type { ComponentProps, InputEvent, ReactNode } from 'react';
import { createContext, use, useId, useState } from 'react';
import { addressErrorOf, questionOf } from './email-address.ts';
import { useAddress } from './use-address.ts';

interface FieldTexts {
  label: string;
  /** Validation error of the value, said beside the field and read out with it. */
  error?: string | undefined;
}

/** Native attributes that a field accepts; it listens to the input itself. */
type Native<Element extends 'input' | 'textarea'> = Omit<ComponentProps<Element>, 'onInput'>;

/** Whether the gateway fills the fields in: see `RefusedPage`. */
export const FilledByGateway = createContext(false);

/** From this fraction of the limit on, visitors are told how much is left. */
const WARN_FRACTION = 0.9;

const baseClasses =
  'mt-1.5 block w-full rounded-control border border-field-line bg-raised px-3.5 py-3 text-ink ' +
  'disabled:opacity-60 aria-invalid:border-2 aria-invalid:border-alert';

/** One-line text input with its label and error. */
export function TextField({ label, error, maxLength, ...rest }: Native<'input'> & FieldTexts) {
  return (
    <Labelled label={label} error={error} maxCharacters={maxLength} {...rest}>
      {attributes => <input {...rest} {...attributes} />}
    </Labelled>
  );
}

/** Field for an e-mail address. It finds the address in what is pasted, and asks about a domain that looks mistyped. */
export function EmailField({
  label,
  error,
  ...rest
}: Omit<Native<'input'>, 'type' | 'maxLength'> & FieldTexts) {
  const { field, suggested, find, ask, mend, accept } = useAddress();
  return (
    <Labelled
      label={label}
      error={error}
      maxCharacters={254}
      errorOf={addressErrorOf}
      hint={
        suggested ? (
          <button
            type="button"
            onClick={accept}
            className="block min-h-11 cursor-pointer text-small underline"
          >
            {questionOf(suggested)}
          </button>
        ) : null
      }
      {...rest}
    >
      {({ onInput, ...attributes }) => (
        <input
          autoComplete="email"
          inputMode="email"
          {...rest}
          {...attributes}
          ref={field}
          type="email"
          onInput={event => {
            find(event.currentTarget);
            onInput(event);
            ask(event.currentTarget.value);
          }}
          onInvalid={event => {
            if (mend(event.currentTarget)) {
              event.preventDefault();
            }
          }}
        />
      )}
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

type TextControl = HTMLInputElement | HTMLTextAreaElement;

/**
 * Watches a limit in characters, and what else may be wrong. The attribute `maxlength` would cut off what is pasted, and nobody would
 * notice; so everything is kept, and what is too long is said.
 */
function useLimit(
  maxCharacters = Number.POSITIVE_INFINITY,
  errorOf: LabelledProps['errorOf'] = () => undefined,
) {
  const [left, setLeft] = useState<number>();
  function check({ currentTarget: field }: InputEvent<TextControl>) {
    const length = Array.from(field.value).length;
    setLeft(length >= maxCharacters * WARN_FRACTION ? maxCharacters - length : undefined);
    field.setCustomValidity(
      length > maxCharacters
        ? `Use at most ${maxCharacters.toLocaleString('en')} characters.`
        : (errorOf(field.value) ?? ''),
    );
  }
  return { left, check };
}

/** Value of `aria-invalid`; the gateway makes `true` or `false` of a place. */
type Invalid = true | 'true' | undefined;

/** A field's error, and whether it is invalid; where the gateway fills the page, the places of both. */
export function useFieldError(
  name: string | undefined,
  error: string | undefined,
): { text: string | undefined; invalid: Invalid } {
  return use(FilledByGateway)
    ? { text: `{{error:${name}}}`, invalid: `{{invalid:${name}}}` as 'true' }
    : { text: error, invalid: error ? true : undefined };
}

interface LabelledProps extends FieldTexts {
  name?: string | undefined;
  required?: boolean | undefined;
  className?: string | undefined;
  maxCharacters: number | undefined;
  /** What is wrong with a value that is not too long, in a sentence. */
  errorOf?: (value: string) => string | undefined;
  /** What is said below it, beside errors and the limit. */
  hint?: ReactNode;
  children: (attributes: Attributes) => ReactNode;
}

/** Attributes that tie an element to its label, its hints and its error. */
interface Attributes {
  id: string;
  className: string;
  /** By what is typed: names and messages come in any script. */
  dir: 'auto';
  onInput: (event: InputEvent<TextControl>) => void;
  'aria-invalid': Invalid;
  'aria-describedby': string | undefined;
  /** Where the gateway puts the value in. */
  defaultValue?: string;
}

function Labelled({
  label,
  error,
  name,
  required,
  className = '',
  maxCharacters,
  errorOf,
  hint,
  children,
}: LabelledProps) {
  const id = useId();
  const isFilled = use(FilledByGateway);
  const { left, check } = useLimit(maxCharacters, errorOf);
  const wrong = useFieldError(name, error);
  const describedBy = [
    required ? '' : `${id}-optional`,
    wrong.text ? `${id}-error` : '',
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
        dir: 'auto',
        onInput: check,
        'aria-invalid': wrong.invalid,
        'aria-describedby': describedBy.join(' ') || undefined,
        ...(isFilled && { defaultValue: `{{text:${name}}}` }),
      })}
      {hint}
      {wrong.text ? (
        <p id={`${id}-error`} className="mt-1.5 text-alert-ink text-small empty:hidden">
          {wrong.text}
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
