import { useFieldError } from '@site/kit/field.tsx';
import { useHydrated } from '@site/kit/use-hydrated.ts';
import { useEffect, useId, useRef, useState } from 'react';
import { ACCEPTED, formatBytes, resumeErrorOf } from './resume.ts';
import { useDroppedFiles } from './use-dropped-files.ts';

interface ResumeFieldProps {
  file: File | undefined;
  onChoose: (file: File | undefined) => void;
  error: string | undefined;
  /** From 0 to 1, during an upload. */
  uploadProgress: number | undefined;
}

/** Style of the native file input, which shows before hydration. */
const baseClasses =
  'mt-3 block w-full text-small file:mr-3 file:min-h-11 file:cursor-pointer file:rounded-control file:border ' +
  'file:border-field-line file:border-solid file:bg-raised file:px-4 file:font-semibold';

export function ResumeField({ file, onChoose, error, uploadProgress }: ResumeFieldProps) {
  const id = useId();
  const isSending = uploadProgress !== undefined;
  // Before hydration the native input shows the file and submits it.
  const isHydrated = useHydrated();
  const { picker, ownError, takeChosen, remove } = useResumeFile(onChoose, isSending);
  const wrong = useFieldError('resume', ownError ?? error);
  return (
    <fieldset className="mb-5 min-w-0 rounded-control border border-field-line border-dashed p-4">
      <legend className="sr-only">Your résumé</legend>
      <label htmlFor={id} className="font-medium text-small">
        Resume/CV
      </label>
      <p className="text-ink-2 text-small">
        PDF, DOC or DOCX, up to 10 MiB. Choose it or drop it here.
      </p>
      <input
        ref={picker}
        id={id}
        type="file"
        name="resume"
        required={!isHydrated}
        accept={ACCEPTED}
        disabled={isSending}
        aria-invalid={wrong.invalid}
        aria-describedby={wrong.text ? `${id}-error` : undefined}
        onChange={isHydrated ? takeChosen : undefined}
        className={isHydrated ? 'peer sr-only' : baseClasses}
      />
      <label
        htmlFor={id}
        hidden={!isHydrated}
        className="mt-3 inline-flex min-h-11 cursor-pointer items-center rounded-control border border-field-line bg-raised px-4 font-semibold text-small peer-focus-visible:outline-3 peer-focus-visible:outline-ring peer-focus-visible:outline-offset-2 peer-disabled:cursor-default peer-disabled:opacity-60"
      >
        {file ? 'Choose another file' : 'Choose a file'}
      </label>
      {file ? <ChosenFile file={file} isSending={isSending} onRemove={remove} /> : null}
      <Upload progress={uploadProgress} />
      {wrong.text ? (
        <p id={`${id}-error`} className="mt-2 text-alert-ink text-small empty:hidden">
          {wrong.text}
        </p>
      ) : null}
    </fieldset>
  );
}

/** Calls `onChoose` with a file at once, and with undefined if the file turns out to be invalid. */
function useResumeFile(onChoose: ResumeFieldProps['onChoose'], isSending: boolean) {
  const picker = useRef<HTMLInputElement>(null);
  const latest = useRef<File>(undefined);
  const [ownError, setOwnError] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, for files chosen before hydration
  useEffect(() => takeChosen(), []);
  useDroppedFiles(picker, files => {
    if (!isSending) {
      choose(files);
    }
  });

  async function choose([chosen, ...others]: readonly File[]) {
    // Only the visitor knows which of several files is the résumé.
    setOwnError(others.length > 0 ? 'Drop one file.' : undefined);
    if (chosen && others.length === 0) {
      take(chosen);
      const error = await resumeErrorOf(chosen);
      if (error && latest.current === chosen) {
        setOwnError(error);
        take(undefined);
      }
    }
  }

  function take(chosen: File | undefined) {
    latest.current = chosen;
    onChoose(chosen);
  }

  function takeChosen() {
    if (picker.current) {
      choose(Array.from(picker.current.files ?? []));
      // Allows the same file to be chosen again.
      picker.current.value = '';
    }
  }

  function remove() {
    take(undefined);
    picker.current?.focus();
  }
  return { picker, ownError, takeChosen, remove };
}

interface ChosenFileProps {
  file: File;
  isSending: boolean;
  onRemove: () => void;
}

function ChosenFile({ file, isSending, onRemove }: ChosenFileProps) {
  return (
    <div className="mt-3 flex items-center gap-3">
      <p className="min-w-0 grow">
        <bdi>{file.name}</bdi> <span className="text-ink-2">{`(${formatBytes(file.size)})`}</span>
      </p>
      <button
        type="button"
        disabled={isSending}
        onClick={onRemove}
        className="min-h-11 cursor-pointer px-2 text-small underline disabled:opacity-60"
      >
        Remove
      </button>
    </div>
  );
}

function Upload({ progress }: { progress: number | undefined }) {
  return progress === undefined ? null : (
    <progress aria-label="Upload" value={progress} max={1} className="progress mt-3 h-2" />
  );
}
