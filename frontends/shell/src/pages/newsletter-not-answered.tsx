import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { RefusedPage } from '@site/kit/refused-page.tsx';

/** `/newsletter/not-answered`: a link of a newsletter mail that is forged, or good no more. */
export default function NewsletterNotAnswered() {
  return (
    <RefusedPage title="Nothing has changed yet">
      <ButtonLink to={paths.blog}>To the newsletter</ButtonLink>
    </RefusedPage>
  );
}
