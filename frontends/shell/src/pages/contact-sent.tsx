import { AcceptedPage } from '@site/kit/accepted-page.tsx';
import { Picture } from '@site/kit/picture.tsx';
import { opening } from '../scenes/scenes.ts';

/** `/contact/sent` */
export default function ContactSent() {
  return (
    <AcceptedPage
      title="Message Sent Successfully!"
      text="Thank you. We will reply to your provided email."
      next={{ title: 'Return to Home', path: '/' }}
      picture={<Picture {...opening} alt="" priority="high" />}
    />
  );
}
