import { Alert } from '@site/kit/alert.tsx';
import type { SubmissionResult } from '@site/kit/api-client.ts';
import { postMultipart } from '@site/kit/api-client.ts';
import { attribution } from '@site/kit/attribution.ts';
import { EmailField, TextAreaField, TextField } from '@site/kit/field.tsx';
import { formValues } from '@site/kit/form-values.ts';
import { HONEYPOT, Honeypot } from '@site/kit/honeypot.tsx';
import { PrivacyNote } from '@site/kit/privacy-note.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import type { Toast } from '@site/kit/toast.ts';
import { showToast } from '@site/kit/toast-region.tsx';
import { useDraft } from '@site/kit/use-draft.ts';
import type { AttemptOptions, FieldErrors } from '@site/kit/use-submission.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import type { FormEvent } from 'react';
import { useEffect } from 'react';
import { resumeErrorOf } from './resume.ts';
import { ResumeField } from './resume-field.tsx';

export const FIELDS = ['name', 'email', 'phone', 'position', 'experience', 'coverLetter'] as const;
const FAILED = 'Failed to submit application. Please try again.';
/** The draft omits these fields if the page sets the position. */
const NOT_DRAFTED = ['position'];
const FAILURE_MESSAGES = { refused: FAILED, unreachable: FAILED };
const NO_RESUME = 'Choose your résumé.';
export const SUBMITTED = {
  kind: 'success',
  title: 'Application Submitted!',
  text: "Thank you for your interest. We'll get back to you soon.",
} satisfies Toast;

interface ApplicationFormProps {
  /** Empty if no position is chosen. */
  position: string;
  /** Kept by the page, so that it survives closing the dialog. */
  resume: File | undefined;
  onResume: (file: File | undefined) => void;
  /** Called only while the form is mounted. */
  onSubmitted: () => void;
  /** Called by Cancel. Without it, Cancel shows only during an upload. */
  onCancelled?: () => void;
}

/** Without JavaScript, or before hydration, the browser submits the form itself. */
export function ApplicationForm(props: ApplicationFormProps) {
  const { form, state, fieldErrors, edit, choose, submit, cancel } =
    useApplicationSubmission(props);
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
      <ApplicationFields position={props.position} fieldErrors={fieldErrors} />
      <ResumeField
        file={props.resume}
        onChoose={choose}
        error={fieldErrors['resume']}
        uploadProgress={state.status === 'submitting' ? state.uploadProgress : undefined}
      />
      <Honeypot />
      <PrivacyNote />
      {state.status === 'failed' ? <Alert>{state.message}</Alert> : null}
      <SubmitButtons
        title="Submit Application"
        state={state}
        onCancel={cancel}
        canLeave={Boolean(props.onCancelled)}
      />
    </form>
  );
}

type ApplicationFieldsProps = Pick<ApplicationFormProps, 'position'> & { fieldErrors: FieldErrors };

function ApplicationFields({ position, fieldErrors }: ApplicationFieldsProps) {
  const field = (name: (typeof FIELDS)[number], label: string, maxLength: number) => ({
    name,
    label,
    maxLength,
    error: fieldErrors[name],
  });
  return (
    <>
      <div className="grid gap-x-5 sm:grid-cols-2">
        <TextField {...field('name', 'Full Name', 200)} autoComplete="name" required />
        <EmailField name="email" label="Email" error={fieldErrors['email']} required />
        <TextField {...field('phone', 'Phone Number', 40)} type="tel" autoComplete="tel" />
        <TextField {...field('experience', 'Years of Experience', 200)} placeholder="3-5 years" />
      </div>
      <TextField {...field('position', 'Position', 200)} defaultValue={position} required />
      <TextAreaField {...field('coverLetter', 'Cover Letter', 20_000)} rows={6} required />
    </>
  );
}

function useApplicationSubmission({
  position,
  resume,
  onResume,
  onSubmitted,
  onCancelled,
}: ApplicationFormProps) {
  const { form, save, discard } = useDraft('application', position ? NOT_DRAFTED : undefined);
  const submission = useSubmission();
  const { state, fieldErrors, failures } = submission;

  // On failure, move the focus to the first invalid field.
  useEffect(() => {
    if (failures > 0) {
      form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
  }, [failures, form]);

  function edit(event: FormEvent) {
    save();
    submission.clearErrorOnInput(event);
  }

  function choose(file: File | undefined) {
    onResume(file);
    submission.clearFieldError('resume');
  }

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const values = formValues(event.currentTarget, [...FIELDS, HONEYPOT]);
    if (!resume) {
      submission.fail(NO_RESUME, { resume: NO_RESUME });
      return;
    }
    const result = await submission.send(options => post(values, resume, options));
    const isHere = form.current !== null;
    if (result.ok) {
      discard();
      showToast(SUBMITTED);
      // If this form is gone, the visitor may be writing another application.
      if (isHere) {
        onResume(undefined);
        onSubmitted();
      }
    } else if (!result.isCancelled) {
      const title = isHere ? 'Error' : 'Your application was not sent';
      showToast({ kind: 'error', title, text: result.message });
    }
  }

  const cancel = () => (state.status === 'submitting' ? submission.cancel() : onCancelled?.());
  return { form, state, fieldErrors, edit, choose, submit, cancel };
}

async function post(
  values: Record<string, string>,
  resume: File,
  options: AttemptOptions,
): Promise<SubmissionResult> {
  // The field may still be checking the file.
  const message = await resumeErrorOf(resume);
  return message
    ? { ok: false, message, fieldErrors: { resume: message } }
    : postMultipart('/api/career-application', multipart(values, resume), {
        failureMessages: FAILURE_MESSAGES,
        ...options,
      });
}

function multipart(values: Record<string, string>, resume: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) {
    form.append(name, value);
  }
  form.append('attribution', JSON.stringify(attribution()));
  form.append('resume', resume);
  return form;
}
