import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { RefusedPage } from '@site/kit/refused-page.tsx';

/** `/newsletter/not-subscribed` */
export default function NewsletterNotSubscribed() {
  return (
    <RefusedPage title="Not subscribed yet">
      <NewsletterForm />
    </RefusedPage>
  );
}
