import { ButtonLink } from '@site/kit/button.tsx';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import * as paths from '@site/kit/paths.ts';
import { RefusedPage } from '@site/kit/refused-page.tsx';
import { ContactForm } from './contact-form.tsx';

/** By page type. */
export const refused = {
  messageNotSent: () => (
    <RefusedPage title="Not sent yet">
      <ContactForm />
    </RefusedPage>
  ),
  notSubscribed: () => (
    <RefusedPage title="Not subscribed yet">
      <NewsletterForm />
    </RefusedPage>
  ),
  /** The link is forged or no longer valid. */
  notAnswered: () => (
    <RefusedPage title="Nothing has changed yet">
      <ButtonLink to={paths.blog}>To the newsletter</ButtonLink>
    </RefusedPage>
  ),
};
