import { postJson } from '@site/kit/api-client.ts';
import { Bait, baitIn } from '@site/kit/bait.tsx';
import { Button } from '@site/kit/button.tsx';
import { Field, TextField } from '@site/kit/field.tsx';
import { useDraft } from '@site/kit/use-draft.ts';
import type { FormEvent } from 'react';
import { useEffect, useRef, useState } from 'react';

const EMPTY = { name: '', email: '', message: '' };
/** How long the visitor is told of the success, in milliseconds. */
const SUCCESS_SHOWN_FOR = 5000;
const SENTENCES = {
  refused: 'Failed to send message',
  unreachable: (failure: Error) =>
    failure.message || 'Failed to send message. Please try again later.',
};

type State =
  | { is: 'idle' | 'submitting' }
  | { is: 'success'; email: string }
  | { is: 'failed'; message: string; fields: Readonly<Record<string, string>> };

/** The form of the contact page. */
export function ContactForm() {
  const [values, change, forget] = useDraft('contact', EMPTY);
  const [state, setState] = useState<State>({ is: 'idle' });

  useEffect(() => {
    if (state.is === 'success') {
      const over = setTimeout(() => setState({ is: 'idle' }), SUCCESS_SHOWN_FOR);
      return () => clearTimeout(over);
    }
    return undefined;
  }, [state]);

  async function send(website: string) {
    setState({ is: 'submitting' });
    const outcome = await postJson(
      '/api/contact',
      { ...values, website },
      { sentences: SENTENCES },
    );
    if (outcome.ok) {
      setState({ is: 'success', email: values.email });
      forget();
    } else {
      setState({ is: 'failed', message: outcome.message, fields: outcome.fields });
    }
  }

  if (state.is === 'success') {
    return <Success email={state.email} />;
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    send(baitIn(event.currentTarget));
  }
  const wrong = state.is === 'failed' ? state.fields : {};
  return (
    <form onSubmit={submit}>
      <Field
        label="Full Name"
        name="name"
        autoComplete="name"
        maxLength={200}
        required
        value={values.name}
        error={wrong['name']}
        onChange={event => change({ name: event.target.value })}
      />
      <Field
        label="Email Address"
        name="email"
        type="email"
        inputMode="email"
        autoComplete="email"
        maxLength={254}
        required
        value={values.email}
        error={wrong['email']}
        onChange={event => change({ email: event.target.value })}
      />
      <TextField
        label="Your Message"
        name="message"
        rows={4}
        maxLength={10_000}
        required
        value={values.message}
        error={wrong['message']}
        onChange={event => change({ message: event.target.value })}
      />
      <Bait />
      {state.is === 'failed' ? <Failure message={state.message} /> : null}
      <Button type="submit" disabled={state.is === 'submitting'}>
        {state.is === 'submitting' ? 'Sending...' : 'Send Message'}
      </Button>
    </form>
  );
}

/** Takes the focus, so that nobody misses it. */
function Failure({ message }: { message: string }) {
  const box = useRef<HTMLParagraphElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <p
      ref={box}
      role="alert"
      tabIndex={-1}
      className="mb-5 border-alert border-l-4 bg-sunk px-4 py-3 text-alert-ink"
    >
      {message}
    </p>
  );
}

function Success({ email }: { email: string }) {
  return (
    <div role="status" className="border border-line bg-raised p-8">
      <p className="text-heading">Message Sent Successfully!</p>
      <p className="mt-3 max-w-prose text-ink-2">
        Thank you. We will reply to {email || 'your provided email'}.
      </p>
    </div>
  );
}
