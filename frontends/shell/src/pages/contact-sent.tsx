import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { emptyStreet } from '../scenes/street-drawing.ts';

/** `/contact/sent` */
export default function ContactSent() {
  return (
    <MessagePage
      title="Message Sent Successfully!"
      text="Thank you. We will reply to your provided email."
      next={{ title: 'Return to Home', path: paths.home }}
      picture={<Picture {...emptyStreet} alt="" priority="high" />}
    />
  );
}
