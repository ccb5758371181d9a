import { Alert } from '@site/kit/alert.tsx';
import type { SubmissionResult } from '@site/kit/api-client.ts';
import { postJson } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { Confirmation } from '@site/kit/confirmation.tsx';
import { EmailField, FilledByGateway, TextAreaField, TextField } from '@site/kit/field.tsx';
import { formValues } from '@site/kit/form-values.ts';
import { HONEYPOT, Honeypot } from '@site/kit/honeypot.tsx';
import { PrivacyNote } from '@site/kit/privacy-note.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import { showToast } from '@site/kit/toast-region.tsx';
import { useDraft } from '@site/kit/use-draft.ts';
import type { FieldErrors } from '@site/kit/use-submission.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import type { FormEvent } from 'react';
import { use, useEffect, useRef, useState } from 'react';

const SUCCESS_DURATION_MS = 5000;
const SENT = 'Message Sent Successfully!';
const FAILURE_MESSAGES = {
  refused: 'Failed to send message',
  unreachable: 'Failed to send message. Please try again later.',
};

/** Without JavaScript, or before hydration, the browser submits the form itself. */
export function ContactForm() {
  const { form, confirmation, state, fieldErrors, sender, edit, submit, cancel } =
    useContactSubmission();
  if (state.status === 'accepted') {
    return (
      <Confirmation ref={confirmation} title={SENT}>
        {`Thank you. We will reply to ${sender || 'your provided email'}.`}
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
      <ContactFields fieldErrors={fieldErrors} />
      <CompanyAndPhone fieldErrors={fieldErrors} />
      <Honeypot />
      <PrivacyNote />
      {state.status === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons title="Send Message" state={state} onCancel={cancel} />
    </form>
  );
}

function ContactFields({ fieldErrors }: { fieldErrors: FieldErrors }) {
  return (
    <>
      <TextField
        label="Full Name"
        name="name"
        autoComplete="name"
        maxLength={200}
        required
        error={fieldErrors['name']}
      />
      <EmailField label="Email Address" name="email" required error={fieldErrors['email']} />
      <TextAreaField
        label="Your Message"
        name="message"
        rows={4}
        maxLength={10_000}
        required
        error={fieldErrors['message']}
      />
    </>
  );
}

/** Folded until opened or filled. */
function CompanyAndPhone({ fieldErrors: { company, phone } }: { fieldErrors: FieldErrors }) {
  const isFilled = use(FilledByGateway);
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  return (
    <details
      open={isOpen || isFilled || Boolean(company || phone)}
      onToggle={event => setOpen(event.currentTarget.open)}
      onInput={open}
      onInvalidCapture={open}
      className="mb-4"
    >
      <summary className="mb-3 min-h-11 cursor-pointer content-center text-small underline">
        Add company or phone
      </summary>
      <TextField
        label="Company"
        name="company"
        autoComplete="organization"
        maxLength={200}
        error={company}
      />
      <TextField
        label="Phone Number"
        name="phone"
        type="tel"
        autoComplete="tel"
        maxLength={40}
        error={phone}
      />
    </details>
  );
}

function useContactSubmission() {
  const { form, save, discard } = useDraft('contact');
  const submission = useSubmission();
  const { state, fieldErrors, cancel, reset } = submission;
  const [sender, setSender] = useState('');
  const confirmation = useRef<HTMLDivElement>(null);
  const takesFocus = useRef(false);

  useEffect(() => {
    if (state.status === 'accepted') {
      const timeout = setTimeout(() => {
        takesFocus.current = document.activeElement === confirmation.current;
        reset();
      }, SUCCESS_DURATION_MS);
      return () => clearTimeout(timeout);
    }
    // If the confirmation had the focus, the form gets it.
    if (state.status === 'idle' && takesFocus.current) {
      takesFocus.current = false;
      form.current?.focus();
    }
    return undefined;
  }, [state, form, reset]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = ['name', 'email', 'message', HONEYPOT, 'company', 'phone'] as const;
    const { company, phone, ...values } = formValues(event.currentTarget, fields);
    const message = {
      ...values,
      ...(company && { company }),
      ...(phone && { phone }),
      attribution: attribution(),
    };
    setSender(values.email);
    const result = await submission.send(options =>
      postJson('/api/contact', message, { failureMessages: FAILURE_MESSAGES, ...options }),
    );
    if (result.ok) {
      discard();
    } else if (!result.isCancelled) {
      // Section 8 of the specification requires this.
      console.error(result.message);
    }
    if (!(form.current || confirmation.current)) {
      showResultToast(result);
    }
  }

  function edit(event: FormEvent) {
    save();
    submission.clearErrorOnInput(event);
  }
  return { form, confirmation, state, fieldErrors, sender, edit, submit, cancel };
}

/** For a visitor who has left the page. */
function showResultToast(result: SubmissionResult) {
  showToast(
    result.ok
      ? { kind: 'success', title: SENT, text: 'Thank you. We will reply by e-mail.' }
      : { kind: 'error', title: 'Your message was not sent', text: result.message },
  );
}
