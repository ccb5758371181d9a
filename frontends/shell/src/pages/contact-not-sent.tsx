import { RefusedPage } from '@site/kit/refused-page.tsx';
import { ContactForm } from './contact-form.tsx';

/** `/contact/not-sent` */
export default function ContactNotSent() {
  return (
    <RefusedPage title="Not sent yet">
      <ContactForm />
    </RefusedPage>
  );
}
