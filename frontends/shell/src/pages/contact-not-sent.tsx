import { errorsOf, RefusedPage } from '@site/kit/refused-page.tsx';
import { ContactForm } from './contact-form.tsx';

/** `/contact/not-sent` */
export default function ContactNotSent() {
  return (
    <RefusedPage title="Not sent yet">
      <ContactForm errors={errorsOf(['name', 'email', 'message'])} />
    </RefusedPage>
  );
}
