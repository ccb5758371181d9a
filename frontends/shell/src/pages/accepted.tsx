import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { emptyStreet } from '../scenes/street-drawing.ts';

const toBlog = { title: 'Back to Blog', path: paths.blog };
const street = <Picture {...emptyStreet} alt="" priority="high" />;

/** By page type. */
export const accepted = {
  messageSent: () => (
    <MessagePage
      title="Message Sent Successfully!"
      text="Thank you. We will reply to your provided email."
      next={{ title: 'Return to Home', path: paths.home }}
      picture={street}
    />
  ),
  subscribed: () => (
    <MessagePage
      title="Thank you for subscribing!"
      text="Check your inbox: it counts once you press the link in our mail."
      next={toBlog}
      picture={street}
    />
  ),
  confirmed: () => (
    <MessagePage
      title="Your subscription is confirmed"
      text="A welcome mail is on its way."
      next={toBlog}
    />
  ),
  unsubscribed: () => (
    <MessagePage
      title="You are unsubscribed"
      text="You will get no more newsletters from us."
      next={toBlog}
    />
  ),
};
