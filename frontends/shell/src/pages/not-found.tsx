import { ButtonLink } from '@site/kit/button.tsx';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { useLocation } from '@site/kit/router.ts';
import { useEffect } from 'react';
import { emptyRoom } from '../scenes/scenes.ts';

/** Every address that names nothing. */
export default function NotFound() {
  const { pathname } = useLocation();
  useEffect(() => {
    // The specification asks for it; it is no error of the page's.
    console.info(`404: there is no page at ${pathname}`);
  }, [pathname]);
  return (
    <>
      <PageMeta title="Page not found" description="There is no page at this address." />
      <PageHeader
        title="Oops! Page not found"
        subtitle="We looked at every frame. There is nothing at this address."
        picture={<Picture {...emptyRoom} alt="" priority="high" />}
      >
        <ButtonLink to={paths.home}>Return to Home</ButtonLink>
      </PageHeader>
      <FooterMarker />
    </>
  );
}
