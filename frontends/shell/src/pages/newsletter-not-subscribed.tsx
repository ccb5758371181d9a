import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { placeholderFieldErrors, RefusedPage } from '@site/kit/refused-page.tsx';

/** `/newsletter/not-subscribed` */
export default function NewsletterNotSubscribed() {
  return (
    <RefusedPage title="Not subscribed yet">
      <NewsletterForm fieldErrors={placeholderFieldErrors(['email'])} />
    </RefusedPage>
  );
}
