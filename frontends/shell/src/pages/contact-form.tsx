import { postJson } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { BAIT, Bait } from '@site/kit/bait.tsx';
import { Button } from '@site/kit/button.tsx';
import type { Failure } from '@site/kit/failure.ts';
import { onceEdited } from '@site/kit/failure.ts';
import { Field, TextField } from '@site/kit/field.tsx';
import { Alert, Confirmation } from '@site/kit/message.tsx';
import { PrivacyNote } from '@site/kit/privacy-note.tsx';
import { textsOf } from '@site/kit/texts-of.ts';
import { useDraft } from '@site/kit/use-draft.ts';
import type { FormEvent } from 'react';
import { useEffect, useRef, useState } from 'react';

/** How long the visitor is told of the success, in milliseconds. */
const SUCCESS_SHOWN_FOR = 5000;
const SENTENCES = {
  refused: 'Failed to send message',
  unreachable: 'Failed to send message. Please try again later.',
};

type State = { is: 'idle' | 'submitting' } | { is: 'success'; email: string } | Failure;

interface ContactFormProps {
  /** What is wrong with which field before anything was sent: see `RefusedPage`. */
  errors?: Readonly<Record<string, string>>;
}

/** The form of the contact page. The browser sends it by itself where our scripts do not run, or not yet. */
export function ContactForm({ errors = {} }: ContactFormProps) {
  const { form, save, forget } = useDraft('contact');
  const [state, setState] = useState<State>({ is: 'idle' });
  const confirmation = useRef<HTMLDivElement>(null);
  const takesFocus = useRef(false);
  const running = useRef<AbortController>(undefined);

  useEffect(() => {
    if (state.is === 'success') {
      const over = setTimeout(() => {
        takesFocus.current = document.activeElement === confirmation.current;
        setState({ is: 'idle' });
      }, SUCCESS_SHOWN_FOR);
      return () => clearTimeout(over);
    }
    // Whoever was at the confirmation, or has called off, goes on at the form, not at the top of the page.
    if (state.is === 'idle' && takesFocus.current) {
      takesFocus.current = false;
      form.current?.focus();
    }
    return undefined;
  }, [state, form]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const texts = textsOf(event.currentTarget, ['name', 'email', 'message', BAIT]);
    setState({ is: 'submitting' });
    running.current = new AbortController();
    const { signal } = running.current;
    const message = { ...texts, attribution: attribution() };
    const outcome = await postJson('/api/contact', message, { sentences: SENTENCES, signal });
    if (outcome.ok) {
      setState({ is: 'success', email: texts.email });
      forget();
    } else if (outcome.isCancelled) {
      takesFocus.current = true;
      setState({ is: 'idle' });
    } else {
      // Section 8 of the specification asks for it.
      console.error(outcome.message);
      setState({ is: 'failed', message: outcome.message, fields: outcome.fields });
    }
  }

  function edit(event: FormEvent) {
    save();
    setState(before => onceEdited(before, event));
  }

  if (state.is === 'success') {
    return (
      <Confirmation ref={confirmation} title="Message Sent Successfully!">
        Thank you. We will reply to {state.email || 'your provided email'}.
      </Confirmation>
    );
  }

  const wrong = state.is === 'failed' ? state.fields : errors;
  return (
    <form
      ref={form}
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
        error={wrong['name']}
      />
      <Field
        label="Email Address"
        name="email"
        type="email"
        inputMode="email"
        autoComplete="email"
        maxLength={254}
        required
        error={wrong['email']}
      />
      <TextField
        label="Your Message"
        name="message"
        rows={4}
        maxLength={10_000}
        required
        error={wrong['message']}
      />
      <Bait />
      <PrivacyNote />
      {state.is === 'failed' ? <Alert>{state.message}</Alert> : null}
      <div className="flex flex-wrap gap-4">
        <Button type="submit" disabled={state.is === 'submitting'}>
          {state.is === 'submitting' ? 'Sending...' : 'Send Message'}
        </Button>
        {state.is === 'submitting' ? (
          <Button kind="quiet" onClick={() => running.current?.abort()}>
            Cancel
          </Button>
        ) : null}
      </div>
    </form>
  );
}
