import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';

/** `/newsletter/unsubscribed` */
export default function NewsletterUnsubscribed() {
  return (
    <MessagePage
      title="You are unsubscribed"
      text="You will get no more newsletters from us."
      next={{ title: 'Back to Blog', path: paths.blog }}
    />
  );
}
