import { Button, ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import type { NewsletterAction } from '../content/newsletter-questions.ts';
import { questions } from '../content/newsletter-questions.ts';

/**
 * The question of a newsletter mail's link where no script runs, in the page's place. The form posts to the page's own
 * address, which holds the token; the server leads it on to the API.
 */
export function NewsletterQuestion({ action }: { action: NewsletterAction }) {
  const { title, question, button } = questions[action];
  return (
    <form method="post" className="grid min-h-dvh place-content-center p-6">
      <input type="hidden" name="answer" value="yes" />
      <h1 className="text-heading">{title}</h1>
      <p className="mt-4 max-w-lead text-ink-2">{question}</p>
      <p className="mt-6 flex flex-wrap gap-4">
        <Button type="submit">{button}</Button>
        <ButtonLink to={paths.home} kind="quiet">
          Not now
        </ButtonLink>
      </p>
    </form>
  );
}
