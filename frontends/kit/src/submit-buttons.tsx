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

/** What a form is sent by, and called off. */
export function SubmitButtons({ title, state, onCancel, canLeave = false }: SubmitButtonsProps) {
  const isSending = state.is === 'submitting';
  return (
    <div className="flex flex-wrap gap-4">
      <Button type="submit" disabled={isSending}>
        {isSending ? 'Sending...' : title}
      </Button>
      {canLeave || isSending ? (
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      ) : null}
    </div>
  );
}
