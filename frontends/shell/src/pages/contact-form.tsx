import { postJson } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { BAIT, Bait } from '@site/kit/bait.tsx';
import { Button } from '@site/kit/button.tsx';
import { Field, TextField } from '@site/kit/field.tsx';
import { textsOf } from '@site/kit/texts-of.ts';
import { useDraft } from '@site/kit/use-draft.ts';
import { useHydrated } from '@site/kit/use-hydrated.ts';
import type { FormEvent } from 'react';
import { useEffect, useRef, useState } from 'react';

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
  const { form, save, forget } = useDraft('contact');
  const [state, setState] = useState<State>({ is: 'idle' });
  // Before that the browser would submit it by itself, to nowhere.
  const isHydrated = useHydrated();

  useEffect(() => {
    if (state.is === 'success') {
      const over = setTimeout(() => setState({ is: 'idle' }), SUCCESS_SHOWN_FOR);
      return () => clearTimeout(over);
    }
    return undefined;
  }, [state]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const texts = textsOf(event.currentTarget, ['name', 'email', 'message', BAIT]);
    setState({ is: 'submitting' });
    const message = { ...texts, attribution: attribution() };
    const outcome = await postJson('/api/contact', message, { sentences: SENTENCES });
    if (outcome.ok) {
      setState({ is: 'success', email: texts.email });
      forget();
    } else {
      // Section 8 of the specification asks for it.
      console.error(outcome.message);
      setState({ is: 'failed', message: outcome.message, fields: outcome.fields });
    }
  }

  if (state.is === 'success') {
    return <Success email={state.email} />;
  }

  const wrong = state.is === 'failed' ? state.fields : {};
  return (
    <form ref={form} onInput={save} onSubmit={submit}>
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
      {state.is === 'failed' ? <Failure message={state.message} /> : null}
      <Button type="submit" disabled={!isHydrated || state.is === 'submitting'}>
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
      <p className="mt-3 max-w-text text-ink-2">
        Thank you. We will reply to {email || 'your provided email'}.
      </p>
    </div>
  );
}
