import { MessagePage } from '@site/kit/message-page.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { useLocation } from '@site/kit/router.ts';
import { useEffect } from 'react';
import { emptyRoom } from '../scenes/scenes.ts';

export default function NotFound() {
  const { pathname } = useLocation();
  useEffect(() => {
    // Required by the specification. It is not an error of the page.
    console.info(`404: there is no page at ${pathname}`);
  }, [pathname]);
  return (
    <MessagePage
      title="Oops! Page not found"
      text="We looked at every frame. There is nothing at this address."
      next={{ title: 'Return to Home', path: paths.home }}
      picture={<Picture {...emptyRoom} alt="" priority="high" />}
    />
  );
}
