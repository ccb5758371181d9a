import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';
import { FooterMarker } from './footer-marker.tsx';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';

interface MessagePageProps {
  title: string;
  text: string;
  next: { title: string; path: string };
  picture?: ReactNode;
}

/** Page with a message and a link: not found, or the confirmation (303) of a form without JavaScript. */
export function MessagePage({ title, text, next, picture }: MessagePageProps) {
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
