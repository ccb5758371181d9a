import type { FormEvent } from 'react';
import { useCallback, useRef, useState } from 'react';
import type { Outcome } from './api-client.ts';

/** What is wrong with which field, in sentences. */
export type FieldErrors = Readonly<Record<string, string>>;

/** How far a submission is. */
export type SubmissionState =
  | { is: 'idle' | 'accepted' }
  | {
      is: 'submitting';
      /** Which part of it, from 0 to 1, is sent. */
      progress: number;
    }
  | { is: 'failed'; message: string; fields: FieldErrors };

/** What the client of the API is told of an attempt. */
interface Watch {
  signal: AbortSignal;
  onProgress: (part: number) => void;
}

/** A form's submission. */
export interface Submission {
  state: SubmissionState;
  errors: FieldErrors;
  /** How often it has failed: with each failure, not while fields are mended one by one, the focus may move. */
  failures: number;
  send: (attempt: (watch: Watch) => Promise<Outcome>) => Promise<Outcome>;
  /** Calls off what is being sent. */
  cancel: () => void;
  fail: (message: string, fields: FieldErrors) => void;
  /** For the form's `onInput`: what was wrong with the field is said no more. */
  edited: (event: FormEvent) => void;
  /** The same for a field by its name. */
  mended: (name: string) => void;
  /** Begins anew. */
  reset: () => void;
}

const IDLE = { is: 'idle' } as const;
const NOTHING_WRONG: FieldErrors = {};

/**
 * The states of a form's submission, the same for all forms. `initial` is what is wrong with which field before anything
 * was sent: see `RefusedPage`.
 */
export function useSubmission(initial = NOTHING_WRONG): Submission {
  const [state, setState] = useState<SubmissionState>(IDLE);
  const [failures, setFailures] = useState(0);
  const running = useRef<AbortController>(undefined);

  function fail(message: string, fields: FieldErrors) {
    setState({ is: 'failed', message, fields });
    setFailures(before => before + 1);
  }

  async function send(attempt: (watch: Watch) => Promise<Outcome>) {
    running.current = new AbortController();
    const onProgress = (progress: number) => setState({ is: 'submitting', progress });
    onProgress(0);
    const outcome = await attempt({ signal: running.current.signal, onProgress });
    if (outcome.ok) {
      setState({ is: 'accepted' });
    } else if (outcome.isCancelled) {
      setState(IDLE);
    } else {
      fail(outcome.message, outcome.fields);
    }
    return outcome;
  }

  const cancel = useCallback(() => running.current?.abort(), []);
  const reset = useCallback(() => setState(IDLE), []);
  const mended = (name: string) => setState(before => withoutField(before, name));
  return {
    state,
    errors: state.is === 'failed' ? state.fields : initial,
    failures,
    send,
    cancel,
    fail,
    edited: ({ target }) =>
      mended((target instanceof Element && target.getAttribute('name')) || ''),
    mended,
    reset,
  };
}

/** With the last of its fields a failure is over; one that names none stays until the next try. */
function withoutField(state: SubmissionState, name: string): SubmissionState {
  if (!(state.is === 'failed' && name in state.fields)) {
    return state;
  }
  const { [name]: _, ...fields } = state.fields;
  return Object.keys(fields).length > 0 ? { ...state, fields } : IDLE;
}
