import { Button, ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import type { NewsletterAction } from '../content/newsletter-prompts.ts';
import { newsletterPrompts } from '../content/newsletter-prompts.ts';

/**
 * Replaces the page if JavaScript is off. The form posts to the page's own URL, which holds the token. The
 * server redirects the request to the API (307).
 */
export function NewsletterNoscriptForm({ action }: { action: NewsletterAction }) {
  const { title, question, button } = newsletterPrompts[action];
  return (
    <form method="post" className="grid min-h-dvh place-content-center p-6">
      <input type="hidden" name="answer" value="yes" />
      <h1 className="text-heading">{title}</h1>
      <p className="mt-4 max-w-lead text-ink-2">{question}</p>
      <p className="mt-6 flex flex-wrap gap-4">
        <Button type="submit">{button}</Button>
        <ButtonLink to={paths.home} variant="secondary">
          Not now
        </ButtonLink>
      </p>
    </form>
  );
}
