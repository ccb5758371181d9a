import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';
import { FooterMarker } from './footer-marker.tsx';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';

interface MessagePageProps {
  title: string;
  text: string;
  /** Link that leads on. */
  next: { title: string; path: string };
  picture?: ReactNode;
}

/** A page that says one thing and leads on: that a form was accepted (303), where no script runs, or that nothing is at an address. */
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
