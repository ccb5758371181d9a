import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import type { SubmissionState } from './use-submission.ts';

interface SubmitButtonsProps {
  title: string;
  state: SubmissionState;
  /** Cancels the submission, or leaves the form if `canLeave`. */
  onCancel: () => void;
  canLeave?: boolean;
  /** Status message below the buttons. */
  children?: ReactNode;
}

/**
 * Submit and cancel buttons of a form. A disabled or removed button loses the focus. After a submission the
 * submit button takes the focus, unless another element has it.
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
