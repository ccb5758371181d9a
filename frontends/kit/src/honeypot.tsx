/** Name of the honeypot field in the API. */
export const HONEYPOT = 'website';

/** Field that people do not see, so only bots fill it in. */
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
