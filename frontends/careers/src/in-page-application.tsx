import { Confirmation } from '@site/kit/confirmation.tsx';
import { useState } from 'react';
import { ApplicationForm, SUBMITTED } from './application-form.tsx';

/** URL fragment of the form. */
export const FORM = 'apply';

/** `position` is a title. */
export function InPageApplication({ position }: { position: string }) {
  const [resume, setResume] = useState<File>();
  const [isSubmitted, setIsSubmitted] = useState(false);
  return (
    <div className="w-full max-w-2xl">
      {isSubmitted ? (
        <Confirmation title={SUBMITTED.title}>{SUBMITTED.text}</Confirmation>
      ) : (
        <ApplicationForm
          position={position}
          resume={resume}
          onResume={setResume}
          onSubmitted={() => setIsSubmitted(true)}
        />
      )}
    </div>
  );
}
