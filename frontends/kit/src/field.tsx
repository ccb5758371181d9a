import type { ComponentProps, InputEvent, ReactNode } from 'react';
import { createContext, use, useId, useState } from 'react';
import { addressErrorOf, questionOf } from './email-address.ts';
import { useAddress } from './use-address.ts';

interface FieldTexts {
  label: string;
  error?: string | undefined;
}

/** Native attributes of a field, except `onInput`, which the components here set themselves. */
type Native<Element extends 'input' | 'textarea'> = Omit<ComponentProps<Element>, 'onInput'>;

/** Whether the gateway fills in the fields: see `RefusedPage`. */
export const FilledByGateway = createContext(false);

/** Fraction of the limit from which visitors see how much is left. */
const WARN_FRACTION = 0.9;

const baseClasses =
  'mt-1.5 block w-full rounded-control border border-field-line bg-raised px-3.5 py-3 text-ink ' +
  'disabled:opacity-60 aria-invalid:border-2 aria-invalid:border-alert';

export function TextField({ label, error, maxLength, ...rest }: Native<'input'> & FieldTexts) {
  return (
    <Labelled label={label} error={error} maxCharacters={maxLength} {...rest}>
      {attributes => <input {...rest} {...attributes} />}
    </Labelled>
  );
}

/** Extracts the address from pasted text, and suggests a correction of a mistyped domain. */
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
 * Validates length and content. The attribute `maxlength` would silently cut off pasted text, so the field
 * keeps everything and reports the excess.
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

/** Value of `aria-invalid`. The gateway replaces a placeholder with `true` or `false`. */
type Invalid = true | 'true' | undefined;

/** Error and validity of a field, or placeholders for both on pages that the gateway fills in. */
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
  /** Error message of a value within the limit. */
  errorOf?: (value: string) => string | undefined;
  /** Shown below the field, before error and limit. */
  hint?: ReactNode;
  children: (attributes: Attributes) => ReactNode;
}

interface Attributes {
  id: string;
  className: string;
  /** Visitors write names and messages in languages of either direction. */
  dir: 'auto';
  onInput: (event: InputEvent<TextControl>) => void;
  'aria-invalid': Invalid;
  'aria-describedby': string | undefined;
  /** Placeholder that the gateway replaces with the value. */
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
      {/* Outside the label, because the specification defines the label's words. */}
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
