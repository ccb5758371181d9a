import { useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import type { SubmissionState } from './use-submission.ts';

interface SubmitButtonsProps {
  /** What the form is sent by. */
  title: string;
  state: SubmissionState;
  /** Calls off what is being sent, or the form itself where `canLeave`. */
  onCancel: () => void;
  /** Whether the form can be left unsent. */
  canLeave?: boolean;
}

/** What a form is sent by, and called off: then the focus is where it can be sent again, if Cancel is gone. */
export function SubmitButtons({ title, state, onCancel, canLeave = false }: SubmitButtonsProps) {
  const submit = useRef<HTMLButtonElement>(null);
  const isCalledOff = useRef(false);
  const isSending = state.is === 'submitting';
  const hasCancel = canLeave || isSending;

  useEffect(() => {
    if (!hasCancel && isCalledOff.current) {
      submit.current?.focus();
    }
    isCalledOff.current = false;
  }, [hasCancel]);

  function cancel() {
    isCalledOff.current = true;
    onCancel();
  }

  return (
    <div className="flex flex-wrap gap-4">
      <Button ref={submit} type="submit" disabled={isSending}>
        {isSending ? 'Sending...' : title}
      </Button>
      {hasCancel ? (
        <Button kind="quiet" onClick={cancel}>
          Cancel
        </Button>
      ) : null}
    </div>
  );
}
