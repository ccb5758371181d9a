/** Name of the honeypot field in the API. */
export const HONEYPOT = 'website';

/** A field that no person sees, so that whoever fills it in is a machine. */
export function Honeypot() {
  return (
    <div hidden>
      <label>
        Leave this empty
        <input name={HONEYPOT} type="text" tabIndex={-1} autoComplete="off" />
      </label>
    </div>
  );
}
