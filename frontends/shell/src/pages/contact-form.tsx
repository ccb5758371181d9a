import type { Outcome } from '@site/kit/api-client.ts';
import { postJson } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { Field, TextField } from '@site/kit/field.tsx';
import { HONEYPOT, Honeypot } from '@site/kit/honeypot.tsx';
import { Alert, Confirmation } from '@site/kit/confirmation.tsx';
import { notify } from '@site/kit/toast-region.tsx';
import { PrivacyNote } from '@site/kit/privacy-note.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import { textsOf } from '@site/kit/texts-of.ts';
import { useDraft } from '@site/kit/use-draft.ts';
import type { FieldErrors } from '@site/kit/use-submission.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import type { FormEvent } from 'react';
import { useEffect, useRef, useState } from 'react';

/** How long the visitor is told of the success, in milliseconds. */
const SUCCESS_SHOWN_FOR = 5000;
const SENT = 'Message Sent Successfully!';
const SENTENCES = {
  refused: 'Failed to send message',
  unreachable: 'Failed to send message. Please try again later.',
};

interface ContactFormProps {
  /** What is wrong with which field before anything was sent: see `RefusedPage`. */
  errors?: FieldErrors | undefined;
}

/** The form of the contact page. The browser sends it by itself where our scripts do not run, or not yet. */
export function ContactForm({ errors: initial }: ContactFormProps) {
  const { form, save, forget } = useDraft('contact');
  const { state, errors, send, cancel, edited, reset } = useSubmission(initial);
  const [sender, setSender] = useState('');
  const confirmation = useRef<HTMLDivElement>(null);
  const takesFocus = useRef(false);

  useEffect(() => {
    if (state.is === 'accepted') {
      const over = setTimeout(() => {
        takesFocus.current = document.activeElement === confirmation.current;
        reset();
      }, SUCCESS_SHOWN_FOR);
      return () => clearTimeout(over);
    }
    // Whoever was at the confirmation goes on at the form, not at the top of the page.
    if (state.is === 'idle' && takesFocus.current) {
      takesFocus.current = false;
      form.current?.focus();
    }
    return undefined;
  }, [state, form, reset]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const texts = textsOf(event.currentTarget, ['name', 'email', 'message', HONEYPOT]);
    const message = { ...texts, attribution: attribution() };
    setSender(texts.email);
    const outcome = await send(watch =>
      postJson('/api/contact', message, { sentences: SENTENCES, ...watch }),
    );
    if (outcome.ok) {
      forget();
    } else if (!outcome.isCancelled) {
      // Section 8 of the specification asks for it.
      console.error(outcome.message);
    }
    if (!(form.current || confirmation.current)) {
      tellElsewhere(outcome);
    }
  }

  function edit(event: FormEvent) {
    save();
    edited(event);
  }

  if (state.is === 'accepted') {
    return (
      <Confirmation ref={confirmation} title={SENT}>
        Thank you. We will reply to {sender || 'your provided email'}.
      </Confirmation>
    );
  }

  return (
    <form
      ref={form}
      data-draft="contact"
      method="post"
      action="/api/contact"
      tabIndex={-1}
      onInput={edit}
      onSubmit={submit}
    >
      <Field
        label="Full Name"
        name="name"
        autoComplete="name"
        maxLength={200}
        required
        error={errors['name']}
      />
      <Field
        label="Email Address"
        name="email"
        type="email"
        inputMode="email"
        autoComplete="email"
        maxLength={254}
        required
        error={errors['email']}
      />
      <TextField
        label="Your Message"
        name="message"
        rows={4}
        maxLength={10_000}
        required
        error={errors['message']}
      />
      <Honeypot />
      <PrivacyNote />
      {state.is === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons title="Send Message" state={state} onCancel={cancel} />
    </form>
  );
}

/** Whoever went to another page meanwhile learns there what came of the message. */
function tellElsewhere(outcome: Outcome) {
  notify(
    outcome.ok
      ? { kind: 'success', title: SENT, text: 'Thank you. We will reply by e-mail.' }
      : { kind: 'error', title: 'Your message was not sent', text: outcome.message },
  );
}
