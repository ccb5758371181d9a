import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { emptyStreet } from '../scenes/street-drawing.ts';

/** `/newsletter/subscribed` */
export default function NewsletterSubscribed() {
  return (
    <MessagePage
      title="Thank you for subscribing!"
      text="Check your inbox: it counts once you press the link in our mail."
      next={{ title: 'Back to Blog', path: paths.blog }}
      picture={<Picture {...emptyStreet} alt="" priority="high" />}
    />
  );
}
