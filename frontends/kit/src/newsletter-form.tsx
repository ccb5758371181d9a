import type { FormEvent } from 'react';
import { useRef, useState } from 'react';
import { postJson } from './api-client.ts';
import { attribution } from './attribution.ts';
import { BAIT, Bait } from './bait.tsx';
import { Button } from './button.tsx';
import type { Failure } from './failure.ts';
import { onceEdited } from './failure.ts';
import { Field } from './field.tsx';
import { PrivacyNote } from './privacy-note.tsx';
import { textsOf } from './texts-of.ts';

const FAILED = 'Subscription failed. Try again.';
const SENTENCES = { refused: FAILED, unreachable: FAILED };

type State = { is: 'idle' | 'submitting' | 'success' } | Failure;

interface NewsletterFormProps {
  /** What is wrong with which field before anything was sent: see `RefusedPage`. */
  errors?: Readonly<Record<string, string>>;
}

/** Signs an address up for the newsletter. The browser sends it by itself where our scripts do not run, or not yet. */
export function NewsletterForm({ errors = {} }: NewsletterFormProps) {
  const [state, setState] = useState<State>({ is: 'idle' });
  const running = useRef<AbortController>(undefined);

  async function subscribe(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    setState({ is: 'submitting' });
    running.current = new AbortController();
    const { signal } = running.current;
    const signUp = { ...textsOf(form, ['email', BAIT]), attribution: attribution() };
    const outcome = await postJson('/api/newsletter', signUp, { sentences: SENTENCES, signal });
    if (outcome.ok) {
      form.reset();
      setState({ is: 'success' });
    } else if (outcome.isCancelled) {
      // The button that had the focus is gone.
      form.querySelector('input')?.focus();
      setState({ is: 'idle' });
    } else {
      setState({ is: 'failed', message: outcome.message, fields: outcome.fields });
    }
  }

  return (
    <form
      method="post"
      action="/api/newsletter"
      onInput={event => setState(before => onceEdited(before, event))}
      onSubmit={subscribe}
      className="max-w-md"
    >
      <Field
        label="Email Address"
        type="email"
        name="email"
        inputMode="email"
        autoComplete="email"
        maxLength={254}
        required
        error={(state.is === 'failed' ? state.fields : errors)['email']}
      />
      <Bait />
      <PrivacyNote />
      <div className="flex flex-wrap gap-4">
        <Button type="submit" disabled={state.is === 'submitting'}>
          {state.is === 'submitting' ? 'Sending...' : 'Subscribe'}
        </Button>
        {state.is === 'submitting' ? (
          <Button kind="quiet" onClick={() => running.current?.abort()}>
            Cancel
          </Button>
        ) : null}
      </div>
      <p role="status" className="mt-3 text-good-ink">
        {state.is === 'success' ? <Subscribed /> : null}
      </p>
      <p role="alert" className="text-alert-ink">
        {state.is === 'failed' ? state.message : null}
      </p>
    </form>
  );
}

function Subscribed() {
  return (
    <>
      <span className="block">Thank you for subscribing!</span>
      <span className="block">
        Check your inbox: it counts once you press the link in our mail.
      </span>
    </>
  );
}
