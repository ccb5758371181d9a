/** Event of the window: a form was accepted. Its detail is the path that the form was sent to. */
const ACCEPTED_EVENT = 'site:form-accepted';

/** Tells whoever counts that a form was accepted. Remotes have a kit of their own, and the window in common. */
export function announceAccepted(path: string): void {
  dispatchEvent(new CustomEvent(ACCEPTED_EVENT, { detail: path }));
}

/** Calls back with the path of each form that is accepted from now on. */
export function onAccepted(accepted: (path: string) => void): void {
  addEventListener(ACCEPTED_EVENT, event => {
    if (event instanceof CustomEvent) {
      accepted(event.detail);
    }
  });
}
