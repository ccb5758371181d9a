import type { FormEvent } from 'react';
import { useCallback, useRef, useState } from 'react';
import type { SubmissionResult } from './api-client.ts';

/** Validation errors in sentences, by the field's name. */
export type FieldErrors = Readonly<Record<string, string>>;

/** State of a submission. */
export type SubmissionState =
  | { status: 'idle' | 'accepted' }
  | {
      status: 'submitting';
      /** The fraction of it, from 0 to 1, that is sent. */
      uploadProgress: number;
      /** Whether the browser solves a challenge first. */
      isBeingChecked?: boolean;
    }
  | { status: 'failed'; message: string; fieldErrors: FieldErrors };

/** Options of one attempt, for the client of the API. */
export interface AttemptOptions {
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
  onChallenge: () => void;
}

const IDLE = { status: 'idle' } as const;
const NO_ERRORS: FieldErrors = {};

/** State machine of a form's submission, the same for all forms. */
export function useSubmission() {
  const [state, setState] = useState<SubmissionState>(IDLE);
  /** Number of failed attempts: with each failure, not while fields are corrected one by one, the focus may move. */
  const [failures, setFailures] = useState(0);
  const running = useRef<AbortController>(undefined);

  function fail(message: string, fieldErrors: FieldErrors) {
    setState({ status: 'failed', message, fieldErrors });
    setFailures(before => before + 1);
  }

  async function send(attempt: (options: AttemptOptions) => Promise<SubmissionResult>) {
    running.current = new AbortController();
    const onProgress = (uploadProgress: number) =>
      setState({ status: 'submitting', uploadProgress });
    const onChallenge = () =>
      setState({ status: 'submitting', uploadProgress: 0, isBeingChecked: true });
    onProgress(0);
    const { signal } = running.current;
    const result = await attempt({ signal, onProgress, onChallenge });
    if (result.ok) {
      setState({ status: 'accepted' });
    } else if (result.isCancelled) {
      setState(IDLE);
    } else {
      fail(result.message, result.fieldErrors);
    }
    return result;
  }

  /** The error of a field that is edited goes. */
  const clearFieldError = (name: string) => setState(before => withoutField(before, name));
  const clearErrorOnInput = ({ target }: FormEvent) =>
    clearFieldError((target instanceof Element && target.getAttribute('name')) || '');
  const cancel = useCallback(() => running.current?.abort(), []);
  const reset = useCallback(() => setState(IDLE), []);
  const fieldErrors = state.status === 'failed' ? state.fieldErrors : NO_ERRORS;
  const clear = { clearErrorOnInput, clearFieldError };
  return { state, fieldErrors, failures, send, cancel, fail, reset, ...clear };
}

/** With the last of its fields a failure is over; one that names none stays until the next try. */
function withoutField(state: SubmissionState, name: string): SubmissionState {
  if (!(state.status === 'failed' && name in state.fieldErrors)) {
    return state;
  }
  const { [name]: _, ...fieldErrors } = state.fieldErrors;
  return Object.keys(fieldErrors).length > 0 ? { ...state, fieldErrors } : IDLE;
}
