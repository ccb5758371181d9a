import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { SUBMITTED } from './application-form.tsx';
import './styles.css';
import workshop from './pictures/workshop.svg';

export const version = REMOTE_VERSION;

/** `/careers/applied` */
export default function Applied() {
  return (
    <MessagePage
      {...SUBMITTED}
      next={{ title: 'Back to Careers', path: paths.careers }}
      picture={<Picture src={workshop} width={800} height={520} alt="" priority="high" />}
    />
  );
}
