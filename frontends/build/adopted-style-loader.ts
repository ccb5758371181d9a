/** The function by which sonner puts its style into the page when its code is loaded. */
const INSERTS = /function __insertCSS\(code\) \{.*?\n\}/s;

/** The same by the DOM: an element with text in it would need a hash in the Content Security Policy. */
const ADOPTS = `function __insertCSS(code) {
  if (typeof document === 'undefined') return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(code);
  document.adoptedStyleSheets.push(sheet);
}`;

/** Loader of sonner's module: its style becomes a stylesheet that the document adopts. */
export default function load(source: string): string {
  if (!INSERTS.test(source)) {
    throw new Error('sonner inserts its style in another way, which the policy may refuse');
  }
  return source.replace(INSERTS, ADOPTS);
}
