import type { PostText } from './post.ts';

export function prerenderedText(id: string): PostText | undefined {
  if (typeof document === 'undefined' || !isOfThisBuild()) {
    return undefined;
  }
  const element = document.querySelector(`[data-text="${CSS.escape(id)}"]`);
  return element
    ? {
        html: element.innerHTML,
        headings: [...element.querySelectorAll('h2')].map(heading => ({
          id: heading.id,
          text: heading.textContent,
        })),
      }
    : undefined;
}

/** A page from an earlier build may hold an older text. */
function isOfThisBuild(): boolean {
  const rendered = document.querySelector<HTMLMetaElement>('meta[name="remote:blog"]');
  return rendered?.content === REMOTE_VERSION;
}
