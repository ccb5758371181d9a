import type { FormEvent } from 'react';

/** What a form says of a submission that failed. */
export interface Failure {
  is: 'failed';
  message: string;
  /** What is wrong with which field. */
  fields: Readonly<Record<string, string>>;
}

/** A form's state once something of it is edited: what was wrong with that field is said no more. */
export function onceEdited<State extends { is: string }>(state: State | Failure, event: FormEvent) {
  const name = event.target instanceof Element ? event.target.getAttribute('name') : null;
  return withoutField(state, name ?? '');
}

/** With the last of its fields a failure is over; one that names none stays until the next try. */
export function withoutField<State extends { is: string }>(
  state: State | Failure,
  name: string,
): State | Failure | { is: 'idle' } {
  if (!(isFailure(state) && name in state.fields)) {
    return state;
  }
  const { [name]: _, ...fields } = state.fields;
  return Object.keys(fields).length > 0 ? { ...state, fields } : { is: 'idle' };
}

function isFailure(state: { is: string }): state is Failure {
  return state.is === 'failed';
}
