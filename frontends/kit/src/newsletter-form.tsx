import type { FormEvent } from 'react';
import { postJson } from './api-client.ts';
import { attribution } from './attribution.ts';
import { Field } from './field.tsx';
import { HONEYPOT, Honeypot } from './honeypot.tsx';
import { Alert } from './confirmation.tsx';
import { PrivacyNote } from './privacy-note.tsx';
import { SubmitButtons } from './submit-buttons.tsx';
import { textsOf } from './texts-of.ts';
import type { FieldErrors } from './use-submission.ts';
import { useSubmission } from './use-submission.ts';

const FAILED = 'Subscription failed. Try again.';
const SENTENCES = { refused: FAILED, unreachable: FAILED };

interface NewsletterFormProps {
  /** What is wrong with which field before anything was sent: see `RefusedPage`. */
  errors?: FieldErrors | undefined;
}

/** Signs an address up for the newsletter. The browser sends it by itself where our scripts do not run, or not yet. */
export function NewsletterForm({ errors: initial }: NewsletterFormProps) {
  const { state, errors, send, cancel, edited } = useSubmission(initial);

  async function subscribe(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const signUp = { ...textsOf(form, ['email', HONEYPOT]), attribution: attribution() };
    const outcome = await send(watch =>
      postJson('/api/newsletter', signUp, { sentences: SENTENCES, ...watch }),
    );
    if (outcome.ok) {
      form.reset();
    }
  }

  return (
    <form
      method="post"
      action="/api/newsletter"
      onInput={edited}
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
        error={errors['email']}
      />
      <Honeypot />
      <PrivacyNote />
      {state.is === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons title="Subscribe" state={state} onCancel={cancel} />
      <p role="status" className="mt-3 text-good-ink">
        {state.is === 'accepted' ? <Subscribed /> : null}
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
