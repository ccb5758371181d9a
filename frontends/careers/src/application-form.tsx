import { postMultipart } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { Field, TextField } from '@site/kit/field.tsx';
import { HONEYPOT, Honeypot } from '@site/kit/honeypot.tsx';
import { Alert } from '@site/kit/confirmation.tsx';
import type { Notice } from '@site/kit/notice.ts';
import { notify } from '@site/kit/toast-region.tsx';
import { PrivacyNote } from '@site/kit/privacy-note.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import { textsOf } from '@site/kit/texts-of.ts';
import { useDraft } from '@site/kit/use-draft.ts';
import type { FieldErrors } from '@site/kit/use-submission.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import type { FormEvent } from 'react';
import { useEffect } from 'react';
import { faultOf } from './resume.ts';
import { ResumeField } from './resume-field.tsx';

/** The names of the fields that hold text. */
export const FIELDS = ['name', 'email', 'phone', 'position', 'experience', 'coverLetter'] as const;
const FAILED = 'Failed to submit application. Please try again.';
/** What is applied for says the button that was pressed. */
const NOT_DRAFTED = ['position'];
const SENTENCES = { refused: FAILED, unreachable: FAILED };
const NO_RESUME = 'Choose your résumé.';
/** What is told of an application that has arrived. */
export const SUBMITTED = {
  kind: 'success',
  title: 'Application Submitted!',
  text: "Thank you for your interest. We'll get back to you soon.",
} satisfies Notice;

interface ApplicationFormProps {
  /** The title of the position applied for, empty where none is chosen yet. */
  position: string;
  /** The résumé, which outlives the window. */
  resume: File | undefined;
  onResume: (file: File | undefined) => void;
  /** Called when it has arrived, with the notice of it, unless its visitor left meanwhile. */
  onSubmitted: (notice: Notice) => void;
  /** Called when the visitor calls it off; without it, only what is being sent can be called off. */
  onCancelled?: () => void;
  /** What is wrong with which field before anything was sent: see `RefusedPage`. */
  errors?: FieldErrors | undefined;
}

/** An application for a position. The browser sends it by itself where our scripts do not run, or not yet. */
export function ApplicationForm({
  position,
  resume,
  onResume,
  onSubmitted,
  onCancelled,
  errors: initial,
}: ApplicationFormProps) {
  const { form, save, forget } = useDraft('application', NOT_DRAFTED);
  const submission = useSubmission(initial);
  const { state, errors, failures, send, cancel: cancelSending } = submission;
  useEffect(() => {
    if (failures > 0) {
      form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
  }, [failures, form]);

  function edit(event: FormEvent) {
    save();
    submission.edited(event);
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const texts = textsOf(event.currentTarget, [...FIELDS, HONEYPOT]);
    if (!resume) {
      submission.fail(NO_RESUME, { resume: NO_RESUME });
      return;
    }
    const outcome = await send(async watch => {
      // The field may be reading it still.
      const fault = await faultOf(resume);
      return fault
        ? { ok: false, message: fault, fields: { resume: fault } }
        : postMultipart('/api/career-application', data(texts, resume), {
            sentences: SENTENCES,
            ...watch,
          });
    });
    const isHere = form.current !== null;
    if (outcome.ok) {
      forget();
      notify(SUBMITTED);
      // Whoever left may be writing another one by now.
      if (isHere) {
        onResume(undefined);
        onSubmitted(SUBMITTED);
      }
    } else if (!outcome.isCancelled) {
      const title = isHere ? 'Error' : 'Your application was not sent';
      notify({ kind: 'error', title, text: outcome.message });
    }
  }

  function choose(file: File | undefined) {
    onResume(file);
    submission.mended('resume');
  }

  function cancel() {
    if (state.is === 'submitting') {
      cancelSending();
    } else {
      onCancelled?.();
    }
  }

  const field = (name: (typeof FIELDS)[number], label: string, maxLength: number) => ({
    name,
    label,
    maxLength,
    error: errors[name],
  });
  return (
    <form
      ref={form}
      data-draft="application"
      method="post"
      action="/api/career-application"
      encType="multipart/form-data"
      onInput={edit}
      onSubmit={submit}
    >
      <div className="grid gap-x-5 sm:grid-cols-2">
        <Field {...field('name', 'Full Name', 200)} autoComplete="name" required />
        <Field {...field('email', 'Email', 254)} type="email" autoComplete="email" required />
        <Field {...field('phone', 'Phone Number', 40)} type="tel" autoComplete="tel" />
        <Field {...field('experience', 'Years of Experience', 200)} placeholder="3-5 years" />
      </div>
      <Field {...field('position', 'Position', 200)} defaultValue={position} required />
      <TextField {...field('coverLetter', 'Cover Letter', 20_000)} rows={6} required />
      <ResumeField
        file={resume}
        onChoose={choose}
        error={errors['resume']}
        progress={state.is === 'submitting' ? state.progress : undefined}
      />
      <Honeypot />
      <PrivacyNote />
      {state.is === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons
        title="Submit Application"
        state={state}
        onCancel={cancel}
        canLeave={Boolean(onCancelled)}
      />
    </form>
  );
}

function data(texts: Record<string, string>, resume: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(texts)) {
    form.append(name, value);
  }
  form.append('attribution', JSON.stringify(attribution()));
  form.append('resume', resume);
  return form;
}
