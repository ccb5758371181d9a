import { pressIfUnheard } from '@site/kit/early-press.ts';

/** Elements that hold what a visitor has entered, opened or focused. */
const HOLDERS = 'a[href], button, details, input[name], summary, textarea[name]';

/**
 * Carries what a visitor did with the page's HTML over to what React puts in its place. React hydrates only HTML that is
 * just what the server sent: where a password manager, a spell checker or a translator has put elements of its own into it,
 * or the HTML is of another build, React renders that part of the page anew. To be called before the page is hydrated.
 * With the first change of the page it is over.
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
    // Or what is to be replaced was put back until then: see the kit's `LazyArea`.
    const isBack = records.some(({ addedNodes }) =>
      Array.from(addedNodes).some(node => node.contains(focused)),
    );
    if (pairs.length === 0 && !isBack) {
      return;
    }
    // First all values: a form keeps all of its fields as its draft when one of them changes.
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
  // An element that is taken out of the page loses the focus, too: that is no visitor's doing.
  const forget = () => (focused = document.activeElement);
  addEventListener('focusout', () => setTimeout(forget), options);
  addEventListener('scroll', () => (top = scrollY), options);
  // What is sent is the application's: it may empty the form.
  addEventListener('submit', ({ target }) => forgetAllIn(early, target), options);
}

function forgetAllIn(early: Map<string, HTMLElement>, form: EventTarget | null) {
  for (const [key, element] of early) {
    if (element.closest('form') === form) {
      early.delete(key);
    }
  }
}

/** The holders, by what tells each from the others: its form and its name, or its words, and which of several such it is. */
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
  // Of what can be opened the words are in it.
  return element.tagName === 'DETAILS'
    ? ''
    : (element.getAttribute('href') ?? element.ariaLabel ?? element.textContent);
}

/** Gives one element the state of another. Returns what tells the application of it. */
function carryOver({ from, to }: { from: HTMLElement; to: HTMLElement }): () => void {
  if (from instanceof HTMLDetailsElement && to instanceof HTMLDetailsElement) {
    to.open = from.open;
  }
  if (from instanceof HTMLButtonElement && to instanceof HTMLButtonElement) {
    // The mark of `early-press.js`: of a press that nobody has heard.
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
  // Past the setter by which React knows what it has set itself: this is the visitor's.
  Reflect.set(Object.getPrototypeOf(to), 'value', from.value, to);
  // Fields for addresses tell no selection: there the caret is at the end.
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

/** Ends the entrance of what has been in view before. */
function showAtOnce() {
  for (const animation of document.getAnimations()) {
    if ('animationName' in animation && animation.animationName === 'fade-up') {
      animation.finish();
    }
  }
}
