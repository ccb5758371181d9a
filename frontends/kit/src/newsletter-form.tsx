import type { FormEvent } from 'react';
import { Alert } from './alert.tsx';
import { postJson } from './api-client.ts';
import { attribution } from './attribution.ts';
import { EmailField } from './field.tsx';
import { formValues } from './form-values.ts';
import { HONEYPOT, Honeypot } from './honeypot.tsx';
import { PrivacyNote } from './privacy-note.tsx';
import { SubmitButtons } from './submit-buttons.tsx';
import { useSubmission } from './use-submission.ts';

const FAILED = 'Subscription failed. Try again.';
const FAILURE_MESSAGES = { refused: FAILED, unreachable: FAILED };

/** Without JavaScript, or before hydration, the browser itself sends the form. */
export function NewsletterForm() {
  const { state, fieldErrors, send, cancel, clearErrorOnInput } = useSubmission();

  async function subscribe(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const signUp = { ...formValues(form, ['email', HONEYPOT]), attribution: attribution() };
    const result = await send(options =>
      postJson('/api/newsletter', signUp, { failureMessages: FAILURE_MESSAGES, ...options }),
    );
    if (result.ok) {
      form.reset();
    }
  }

  return (
    <form
      method="post"
      action="/api/newsletter"
      onInput={clearErrorOnInput}
      onSubmit={subscribe}
      className="max-w-md"
    >
      <EmailField label="Email Address" name="email" required error={fieldErrors['email']} />
      <Honeypot />
      <PrivacyNote />
      {state.status === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons title="Subscribe" state={state} onCancel={cancel}>
        {state.status === 'accepted' ? <Subscribed /> : null}
      </SubmitButtons>
    </form>
  );
}

function Subscribed() {
  return (
    <>
      <span className="block text-good-ink">Thank you for subscribing!</span>
      <span className="block text-good-ink">
        Check your inbox: it counts once you press the link in our mail.
      </span>
    </>
  );
}
