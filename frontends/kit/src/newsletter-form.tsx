import type { FormEvent } from 'react';
import { useState } from 'react';
import { postJson } from './api-client.ts';
import { Bait, baitIn } from './bait.tsx';
import { Button } from './button.tsx';
import { Field } from './field.tsx';

const FAILED = 'Subscription failed. Try again.';
const SENTENCES = { refused: FAILED, unreachable: FAILED };

type State = { is: 'idle' | 'submitting' | 'success' } | { is: 'error'; message: string };

/** Signs an address up for the newsletter. */
export function NewsletterForm() {
  const [email, setEmail] = useState('');
  const [state, setState] = useState<State>({ is: 'idle' });

  async function subscribe(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = { email, website: baitIn(event.currentTarget) };
    setState({ is: 'submitting' });
    const outcome = await postJson('/api/newsletter', form, { sentences: SENTENCES });
    if (outcome.ok) {
      setEmail('');
      setState({ is: 'success' });
    } else {
      setState({ is: 'error', message: outcome.message });
    }
  }

  return (
    <form onSubmit={subscribe} className="max-w-md">
      <Field
        label="Email Address"
        type="email"
        name="email"
        autoComplete="email"
        maxLength={254}
        required
        value={email}
        onChange={event => setEmail(event.target.value)}
      />
      <Bait />
      <Button type="submit" disabled={state.is === 'submitting'}>
        Subscribe
      </Button>
      <p role="status" className="mt-3 text-good-ink">
        {state.is === 'success' ? 'Thank you for subscribing!' : null}
      </p>
      <p role="alert" className="text-alert-ink">
        {state.is === 'error' ? state.message : null}
      </p>
    </form>
  );
}
