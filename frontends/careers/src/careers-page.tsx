import { Card } from '@site/kit/card.tsx';
import { Confirmation } from '@site/kit/confirmation.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Section } from '@site/kit/section.tsx';
import { useState } from 'react';
import { ApplicationForm, SUBMITTED } from './application-form.tsx';
import { ApplyLink } from './apply-link.tsx';
import { PositionList } from './position-list.tsx';
import { perks, reasons } from './reasons-and-perks.ts';
import './styles.css';
import preview from './pictures/careers.jpg';
import workshop from './pictures/workshop.svg';

export const version = REMOTE_VERSION;

const SUBTITLE = 'Internships for students and freshers, remote or in Chennai.';

/** `/careers` */
export default function CareersPage() {
  const { applyingFor, applyFor, close, isSubmitted, confirm } = useApplicationDialog();
  const [resume, setResume] = useState<File>();
  return (
    <>
      <PageMeta title="Careers" description={SUBTITLE} path={paths.careers} picture={preview} />
      <PageHeader
        title="Teach machines to notice"
        subtitle={SUBTITLE}
        picture={<Picture src={workshop} width={800} height={520} alt="" priority="high" />}
      >
        <ApplyLink to={paths.apply} onOpen={() => applyFor('')}>
          Apply Now
        </ApplyLink>
      </PageHeader>
      {/* Precedes the confirmation, which must take the focus only after the dialog closes. */}
      <Dialog
        title={applyingFor || 'Position'}
        state={applyingFor === undefined ? 'closed' : 'open'}
        onClose={close}
      >
        <ApplicationForm
          position={applyingFor ?? ''}
          resume={resume}
          onResume={setResume}
          onSubmitted={confirm}
          onCancelled={close}
        />
      </Dialog>
      {isSubmitted ? (
        <div className="mx-auto mb-16 max-w-page px-5 md:px-8">
          <Confirmation title={SUBMITTED.title}>{SUBMITTED.text}</Confirmation>
        </div>
      ) : null}
      <Reasons />
      <Section title="Open Positions">
        <PositionList onApply={({ title }) => applyFor(title)} />
      </Section>
      <Perks />
    </>
  );
}

function useApplicationDialog() {
  // Undefined if the dialog is closed, '' if no position is chosen.
  const [applyingFor, setApplyingFor] = useState<string>();
  const [isSubmitted, setIsSubmitted] = useState(false);
  const close = () => setApplyingFor(undefined);

  function applyFor(title: string) {
    setIsSubmitted(false);
    setApplyingFor(title);
  }

  function confirm() {
    close();
    setIsSubmitted(true);
  }
  return { applyingFor, applyFor, close, isSubmitted, confirm };
}

function Reasons() {
  return (
    <Section title="Why Work With Us">
      <ul className="grid gap-5 md:grid-cols-3">
        {reasons.map(({ title, text }) => (
          <li key={title}>
            <Card className="h-full p-6">
              <h3 className="text-subheading">{title}</h3>
              <p className="mt-1.5 text-ink-2">{text}</p>
            </Card>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Perks() {
  return (
    <Section title="Benefits and Perks">
      <ul className="grid border-line border-t border-l sm:grid-cols-2 lg:grid-cols-4">
        {perks.map(({ title, text }) => (
          <li key={title} className="border-line border-r border-b p-6">
            <h3 className="font-semibold">{title}</h3>
            <p className="mt-1 text-ink-2 text-small">{text}</p>
          </li>
        ))}
      </ul>
    </Section>
  );
}
