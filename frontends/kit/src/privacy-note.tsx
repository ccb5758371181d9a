import * as paths from './paths.ts';
/** The policy opens in a new tab, so that no entries are lost. */
export function PrivacyNote() {
  return (
    <p className="mb-5 max-w-text text-ink-2 text-small">
      Our{' '}
      <a href={paths.privacy} target="_blank" rel="noopener" className="underline">
        privacy policy<span className="sr-only"> (in a new tab)</span>
      </a>{' '}
      says what is sent, who reads it and how long we keep it.
    </p>
  );
}
