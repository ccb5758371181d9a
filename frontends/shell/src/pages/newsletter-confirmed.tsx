import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';

/** `/newsletter/confirmed` */
export default function NewsletterConfirmed() {
  return (
    <MessagePage
      title="Your subscription is confirmed"
      text="A welcome mail is on its way."
      next={{ title: 'Back to Blog', path: paths.blog }}
    />
  );
}
