const INSERTS = /function __insertCSS\(code\) \{.*?\n\}/s;

/** Adopts the stylesheet, because a style element would need a hash in the Content Security Policy. */
const ADOPTS = `function __insertCSS(code) {
  if (typeof document === 'undefined') return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(code);
  document.adoptedStyleSheets.push(sheet);
}`;

/** Loader of sonner's module, which injects its style when it is evaluated. */
export default function load(source: string): string {
  if (!INSERTS.test(source)) {
    throw new Error('sonner inserts its style in another way, which the policy may refuse');
  }
  return source.replace(INSERTS, ADOPTS);
}
