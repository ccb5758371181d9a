/** What the API calls it. */
const NAME = 'website';

/** A field that no person sees, so that whoever fills it in is a machine. */
export function Bait() {
  return (
    <div hidden>
      <label>
        Leave this empty
        <input name={NAME} type="text" tabIndex={-1} autoComplete="off" />
      </label>
    </div>
  );
}

/** What was filled into a form's bait. */
export function baitIn(form: HTMLFormElement): string {
  const value = new FormData(form).get(NAME);
  return typeof value === 'string' ? value : '';
}
