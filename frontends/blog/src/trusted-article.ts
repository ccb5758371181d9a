/** Not every browser supports Trusted Types. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML: (html: string) => string },
  ): { createHTML: (html: string) => string };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('article', { createHTML: html => html });

/** Our own articles, from the build, are trusted. The Content Security Policy names this policy. */
export function trustedArticle(html: string): string {
  // At run time this is a `TrustedHTML`, which React passes to the browser.
  return policy?.createHTML(html) ?? html;
}
