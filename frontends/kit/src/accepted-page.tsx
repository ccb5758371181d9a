import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';
import { WithFooter } from './footer-marker.tsx';

interface AcceptedPageProps {
  title: string;
  text: string;
  /** Where to go on. */
  next: { title: string; path: string };
  picture?: ReactNode;
}

/** Where the gateway leads a browser that sent a form by itself, without our scripts, and was accepted. */
export function AcceptedPage({ title, text, next, picture }: AcceptedPageProps) {
  return (
    <>
      <PageMeta title={title} description={text} />
      <PageHeader title={title} subtitle={text} picture={picture}>
        <ButtonLink to={next.path}>{next.title}</ButtonLink>
      </PageHeader>
      <WithFooter />
    </>
  );
}
