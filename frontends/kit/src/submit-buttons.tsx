import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import type { SubmissionState } from './use-submission.ts';

interface SubmitButtonsProps {
  /** Label of the submit button. */
  title: string;
  state: SubmissionState;
  /** Calls off what is being sent, or the form itself where `canLeave`. */
  onCancel: () => void;
  /** Whether the form can be left unsent. */
  canLeave?: boolean;
  /** What is said beside them, as soon as it is there. */
  children?: ReactNode;
}

/**
 * Submit and cancel buttons of a form. Browsers take the focus from a button that is disabled or gone: once nothing is
 * being sent any more it is where it can be sent again, unless the visitor or a message has taken it elsewhere.
 */
export function SubmitButtons({
  title,
  state,
  onCancel,
  canLeave = false,
  children,
}: SubmitButtonsProps) {
  const submit = useRef<HTMLButtonElement>(null);
  const isSending = state.status === 'submitting';

  useEffect(
    () =>
      isSending
        ? () => {
            if (document.activeElement === document.body) {
              submit.current?.focus({ preventScroll: true });
            }
          }
        : undefined,
    [isSending],
  );

  return (
    <>
      <div className="flex flex-wrap gap-4">
        <Button ref={submit} type="submit" disabled={isSending}>
          {isSending ? 'Sending...' : title}
        </Button>
        {canLeave || isSending ? (
          <Button variant="secondary" onClick={onCancel}>
            Cancel
          </Button>
        ) : null}
      </div>
      <p role="status" className="not-empty:mt-3">
        {isSending && state.isBeingChecked
          ? 'Checking that you are not a robot. This takes a few seconds.'
          : children}
      </p>
    </>
  );
}
