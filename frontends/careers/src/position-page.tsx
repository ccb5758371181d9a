import { ButtonLink } from '@site/kit/button.tsx';
import { MessagePage } from '@site/kit/message-page.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { relatedTo } from '@site/kit/related.ts';
import { useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import { ClosedPosition } from './closed-position.tsx';
import { FORM, InPageApplication } from './in-page-application.tsx';
import { jobPosting } from './job-posting.ts';
import { dayText, isOpen, openOn } from './open-positions.ts';
import { Points } from './points.tsx';
import { PositionCards } from './position-cards.tsx';
import { previewOf } from './position-previews.ts';
import type { Position } from './positions.ts';
import { firstSentenceOf, positions, TERMS } from './positions.ts';
import { useToday } from './use-today.ts';
import './styles.css';
import workshop from './pictures/workshop.svg';

export const version = REMOTE_VERSION;

const CAREERS = { title: 'Careers', path: paths.careers };

/** `/careers/{slug}` */
export default function PositionPage() {
  const { '*': slug = '' } = useParams();
  const position = positions.find(candidate => candidate.slug === slug);
  return position ? <PositionToday key={slug} position={position} /> : <PositionNotFound />;
}

function PositionToday({ position }: { position: Position }) {
  const today = useToday();
  const open = openOn(today);
  return (
    <div data-day={today}>
      {isOpen(position, today) ? (
        <OpenPosition
          position={position}
          related={relatedTo(position, open, ({ department }) => department)}
        />
      ) : (
        <ClosedPosition position={position} open={open} />
      )}
    </div>
  );
}

interface OpenPositionProps {
  position: Position;
  related: readonly Position[];
}

function OpenPosition({ position, related }: OpenPositionProps) {
  const { slug, title, department } = position;
  const path = paths.position(slug);
  return (
    <>
      <PageMeta
        title={title}
        description={firstSentenceOf(position)}
        path={path}
        picture={previewOf(slug)}
      />
      <StructuredData data={jobPosting(position)} />
      <StructuredData data={breadcrumbs(CAREERS, { title, path })} />
      <PageHeader
        title={title}
        subtitle={`${department} · ${TERMS.type} · ${TERMS.location}`}
        breadcrumb={[CAREERS]}
        picture={<Picture src={workshop} width={800} height={520} alt="" priority="high" />}
      >
        <ButtonLink to={`#${FORM}`}>Apply for this position</ButtonLink>
      </PageHeader>
      <Description position={position} />
      <Section
        title="Apply"
        id={FORM}
        lead="The résumé, a few lines about yourself, and that is it."
      >
        <InPageApplication position={title} />
      </Section>
      {related.length > 0 ? (
        <Section title="Related Positions">
          <PositionCards positions={related} />
        </Section>
      ) : null}
    </>
  );
}

function Description({ position }: { position: Position }) {
  const { description, requirements, benefits, opened, closes } = position;
  return (
    <Section title="The Work">
      <div className="grid gap-x-16 gap-y-10 lg:grid-cols-aside">
        <div className="grid max-w-text gap-8">
          <p className="text-ink-2 text-lead">{description}</p>
          <p>{TERMS.sentence}</p>
          <Points title="What you bring" points={requirements} as="h3" />
          <Points title="What you get" points={benefits} as="h3" />
        </div>
        <dl className="grid gap-4 self-start border border-line bg-raised p-6">
          <Fact term="For" text={TERMS.experience} />
          <Fact term="Where" text={TERMS.location} />
          <Fact term="Open since" day={opened} />
          <Fact term="Applications until" day={closes} />
        </dl>
      </div>
    </Section>
  );
}

type FactProps = { term: string } & ({ text: string; day?: never } | { text?: never; day: string });

function Fact({ term, text, day }: FactProps) {
  return (
    <div>
      <dt className="text-ink-2 text-small">{term}</dt>
      <dd className="font-semibold">{day ? <time dateTime={day}>{dayText(day)}</time> : text}</dd>
    </div>
  );
}

function PositionNotFound() {
  return (
    <MessagePage
      title="Position Not Found"
      text="This position does not exist. Perhaps one of those that do is yours."
      next={{ title: 'View All Positions', path: paths.careers }}
    />
  );
}
