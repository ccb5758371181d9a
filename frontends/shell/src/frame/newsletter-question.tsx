import { buttonLook } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import type { NewsletterAction } from '../content/newsletter-questions.ts';
import { questions } from '../content/newsletter-questions.ts';

/**
 * The question of a newsletter mail's link where no script runs, over the page. The form posts to the page's own
 * address, which holds the token; the server leads it on to the API. Plain elements: the page's router is not there.
 */
export function NewsletterQuestion({ action }: { action: NewsletterAction }) {
  const { title, question, button } = questions[action];
  return (
    <form
      method="post"
      className="fixed inset-0 z-30 grid place-content-center bg-paper p-6 print:hidden"
    >
      <input type="hidden" name="answer" value="yes" />
      <h2 className="text-heading">{title}</h2>
      <p className="mt-4 max-w-lead text-ink-2">{question}</p>
      <p className="mt-6 flex flex-wrap gap-4">
        <button type="submit" className={buttonLook} data-kind="main">
          {button}
        </button>
        <a href={paths.home} className={buttonLook} data-kind="quiet">
          Not now
        </a>
      </p>
    </form>
  );
}
