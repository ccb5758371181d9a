import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Section } from '@site/kit/section.tsx';
import { dayText } from './open-positions.ts';
import { PositionCards } from './position-cards.tsx';
import type { Position } from './positions.ts';

interface ClosedPositionProps {
  position: Position;
  open: readonly Position[];
}

/** The server sends this page with status 410. */
export function ClosedPosition({ position, open }: ClosedPositionProps) {
  const title = `${position.title}: closed`;
  const text = `We took applications until ${dayText(position.closes)}, and thank everyone who wrote.`;
  return (
    <>
      <PageMeta title={title} description={text} />
      <PageHeader title={title} subtitle={text}>
        <ButtonLink to={paths.careers}>Working With Us</ButtonLink>
      </PageHeader>
      <Section title="Open Now">
        {open.length > 0 ? (
          <PositionCards positions={open} />
        ) : (
          <p className="max-w-text text-ink-2">
            No position is open at the moment. Tell us all the same what you are good at:{' '}
            <a href={`mailto:${brand.emails.careers}`} className="underline">
              {brand.emails.careers}
            </a>
          </p>
        )}
      </Section>
      <FooterMarker />
    </>
  );
}
