import { pressIfUnheard } from '@site/kit/early-press.ts';

const HOLDERS = 'a[href], button, details, input[name], summary, textarea[name]';

/**
 * Carries early input (values, open state, focus, scroll position) over to elements that React renders anew.
 * React hydrates only the server's exact HTML. If an extension has added elements, or the HTML is from
 * another build, React replaces that part of the page. Call this before hydration. It ends at the first page
 * change.
 */
export function keepEarlyInput(root: HTMLElement): void {
  const { pathname } = location;
  const early = holdersIn(root);
  const served = new Set(early.values());
  const isOver = new AbortController();
  const options = { signal: isOver.signal, passive: true };
  let focused = document.activeElement;
  let top = scrollY;

  const observer = new MutationObserver(records => {
    if (location.pathname !== pathname) {
      observer.disconnect();
      isOver.abort();
      return;
    }
    const lost = [...early].filter(([, { isConnected }]) => !isConnected);
    const successors = lost.length > 0 ? holdersIn(root) : early;
    const pairs = lost.flatMap(([key, from]) => {
      const to = successors.get(key);
      return to && !served.has(to) ? [{ key, from, to }] : [];
    });
    // If the kit's `LazyArea` puts prerendered HTML back, the focused element may return with it.
    const isBack = records.some(({ addedNodes }) =>
      Array.from(addedNodes).some(node => node.contains(focused)),
    );
    if (pairs.length === 0 && !isBack) {
      return;
    }
    // Set all values before the events, because a form saves all fields as its draft when one changes.
    for (const announce of pairs.map(carryOver)) {
      announce();
    }
    for (const { key } of pairs) {
      early.delete(key);
    }
    showAtOnce();
    focused = pairs.find(({ from }) => from === focused)?.to ?? focused;
    if (document.activeElement === document.body && focused instanceof HTMLElement) {
      focused.focus({ preventScroll: true });
    }
    if (scrollY < top) {
      scrollTo({ top, behavior: 'instant' });
    }
  });
  observer.observe(root, { childList: true, subtree: true });
  addEventListener('focusin', ({ target }) => (focused = target as Element), options);
  // Delayed, because removing the focused element fires `focusout` before the observer restores the focus.
  const forget = () => (focused = document.activeElement);
  addEventListener('focusout', () => setTimeout(forget), options);
  addEventListener('scroll', () => (top = scrollY), options);
  // After a submission the application may empty the form.
  addEventListener('submit', ({ target }) => forgetAllIn(early, target), options);
}

function forgetAllIn(early: Map<string, HTMLElement>, form: EventTarget | null) {
  for (const [key, element] of early) {
    if (element.closest('form') === form) {
      early.delete(key);
    }
  }
}

/** Elements by keys that also fit React's new elements: tag, form, name or text, and index among equals. */
function holdersIn(root: HTMLElement): Map<string, HTMLElement> {
  const holders = new Map<string, HTMLElement>();
  for (const element of root.querySelectorAll<HTMLElement>(HOLDERS)) {
    const form = element.closest('form')?.getAttribute('action');
    const key = (at: number) => [element.tagName, form, nameOf(element), at].join();
    let at = 0;
    while (holders.has(key(at))) {
      at += 1;
    }
    holders.set(key(at), element);
  }
  return holders;
}

function nameOf(element: HTMLElement): string | null {
  if (isField(element)) {
    return element.name;
  }
  // The text of `details` is its whole content, so only its index counts.
  return element.tagName === 'DETAILS'
    ? ''
    : (element.getAttribute('href') ?? element.ariaLabel ?? element.textContent);
}

/** Returns a function that notifies React. */
function carryOver({ from, to }: { from: HTMLElement; to: HTMLElement }): () => void {
  if (from instanceof HTMLDetailsElement && to instanceof HTMLDetailsElement) {
    to.open = from.open;
  }
  if (from instanceof HTMLButtonElement && to instanceof HTMLButtonElement) {
    // Set by `early-press.js` for a click that was not handled yet.
    const { pressed } = from.dataset;
    Object.assign(to.dataset, pressed && { pressed });
    return () => pressIfUnheard(to);
  }
  if (!(isField(from) && isField(to))) {
    return () => undefined;
  }
  if ('files' in from && 'files' in to && from.files?.length) {
    to.files = from.files;
    return () => to.dispatchEvent(new Event('change', { bubbles: true }));
  }
  if (from.type === 'file' || from.value === from.defaultValue) {
    return () => undefined;
  }
  // Bypass React's setter, so that React treats the value as the visitor's input.
  Reflect.set(Object.getPrototypeOf(to), 'value', from.value, to);
  // E-mail inputs have no selection API.
  if (from.selectionStart !== null) {
    to.setSelectionRange(from.selectionStart, from.selectionEnd);
  }
  to.scrollTop = from.scrollTop;
  return () => to.dispatchEvent(new Event('input', { bubbles: true }));
}

type Field = HTMLInputElement | HTMLTextAreaElement;

function isField(element: HTMLElement): element is Field {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}

/** Replaced elements were already in view, so their entrance must not repeat. */
function showAtOnce() {
  for (const animation of document.getAnimations()) {
    if ('animationName' in animation && animation.animationName === 'fade-up') {
      animation.finish();
    }
  }
}
