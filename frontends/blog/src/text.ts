import { loadCode } from '@site/kit/load-code.ts';
import type { PostText } from './post.ts';
import { loadText } from './posts.ts';

const texts = new Map<string, Promise<PostText | 'failed'>>();

/**
 * The text of an article, once for the whole visit. A page that was rendered ahead of time holds it
 * already: then nothing is fetched, and nothing can fail.
 */
export function textOf(id: string): Promise<PostText | 'failed'> {
  const known = texts.get(id);
  if (known) {
    return known;
  }
  const rendered = renderedText(id);
  const text = rendered
    ? Promise.resolve(rendered)
    : loadCode(() => loadText(id)).catch(() => 'failed' as const);
  texts.set(id, text);
  return text;
}

/** Lets the next call of `textOf` try anew. */
export function forgetText(id: string): void {
  texts.delete(id);
}

function renderedText(id: string): PostText | undefined {
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

/** A page that was rendered with a former build may hold a former text. */
function isOfThisBuild(): boolean {
  const rendered = document.querySelector<HTMLMetaElement>('meta[name="remote:blog"]');
  return rendered?.content === REMOTE_VERSION;
}
