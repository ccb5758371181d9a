import { placeholderFieldErrors, RefusedPage } from '@site/kit/refused-page.tsx';
import { ContactForm } from './contact-form.tsx';

/** `/contact/not-sent` */
export default function ContactNotSent() {
  return (
    <RefusedPage title="Not sent yet">
      <ContactForm fieldErrors={placeholderFieldErrors(['name', 'email', 'message'])} />
    </RefusedPage>
  );
}
