import type { FormEvent } from 'react';
import { useCallback, useRef, useState } from 'react';
import type { SubmissionResult } from './api-client.ts';

export type FieldErrors = Readonly<Record<string, string>>;

export type SubmissionState =
  | { status: 'idle' | 'accepted' }
  | {
      status: 'submitting';
      /** Fraction from 0 to 1. */
      uploadProgress: number;
      /** Whether the browser is solving a challenge. */
      isBeingChecked?: boolean;
    }
  | { status: 'failed'; message: string; fieldErrors: FieldErrors };

export interface AttemptOptions {
  signal: AbortSignal;
  onProgress: (fraction: number) => void;
  onChallenge: () => void;
}

const IDLE = { status: 'idle' } as const;
const NO_ERRORS: FieldErrors = {};

export function useSubmission() {
  const [state, setState] = useState<SubmissionState>(IDLE);
  /** Number of failed attempts. After each, the application form focuses its first invalid field. */
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

  const clearFieldError = (name: string) => setState(before => withoutField(before, name));
  const clearErrorOnInput = ({ target }: FormEvent) =>
    clearFieldError((target instanceof Element && target.getAttribute('name')) || '');
  const cancel = useCallback(() => running.current?.abort(), []);
  const reset = useCallback(() => setState(IDLE), []);
  const fieldErrors = state.status === 'failed' ? state.fieldErrors : NO_ERRORS;
  const clear = { clearErrorOnInput, clearFieldError };
  return { state, fieldErrors, failures, send, cancel, fail, reset, ...clear };
}

/** A failure ends when its last field is corrected. A failure without fields stays until the next attempt. */
function withoutField(state: SubmissionState, name: string): SubmissionState {
  if (!(state.status === 'failed' && name in state.fieldErrors)) {
    return state;
  }
  const { [name]: _, ...fieldErrors } = state.fieldErrors;
  return Object.keys(fieldErrors).length > 0 ? { ...state, fieldErrors } : IDLE;
}
