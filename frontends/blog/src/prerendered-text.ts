import type { PostText } from './post.ts';

/** The text of an article, where the page was prerendered with it. */
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

/** A page that was prerendered with a former build may hold a former text. */
function isOfThisBuild(): boolean {
  const rendered = document.querySelector<HTMLMetaElement>('meta[name="remote:blog"]');
  return rendered?.content === REMOTE_VERSION;
}
