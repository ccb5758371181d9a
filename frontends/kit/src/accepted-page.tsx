import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';
import { FooterMarker } from './footer-marker.tsx';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';

interface AcceptedPageProps {
  title: string;
  text: string;
  /** Link that leads on. */
  next: { title: string; path: string };
  picture?: ReactNode;
}

/** No-JavaScript fallback: the success page that a native form post is redirected to (303). */
export function AcceptedPage({ title, text, next, picture }: AcceptedPageProps) {
  return (
    <>
      <PageMeta title={title} description={text} />
      <PageHeader title={title} subtitle={text} picture={picture}>
        <ButtonLink to={next.path}>{next.title}</ButtonLink>
      </PageHeader>
      <FooterMarker />
    </>
  );
}
