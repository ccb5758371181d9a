import { Button } from '@site/kit/button.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Section } from '@site/kit/section.tsx';
import { useState } from 'react';
import { ApplicationForm } from './application-form.tsx';
import { positions } from './positions.ts';
import './styles.css';

/** Which build this is. */
export const version = REMOTE_VERSION;

/** `/careers` */
export default function CareersPage() {
  // What is applied for: nothing, or something not yet said ('').
  const [position, setPosition] = useState<string>();
  const close = () => setPosition(undefined);
  return (
    <>
      <PageMeta
        title="Careers"
        description="Internships for students and freshers, remote or in Chennai."
        path="/careers"
      />
      <PageHeader
        title="Careers"
        subtitle="Internships for students and freshers, remote or in Chennai."
      >
        <Button onClick={() => setPosition('')}>Apply Now</Button>
      </PageHeader>
      <Section title="Open Positions">
        <ul>
          {positions.map(title => (
            <li key={title} className="flex flex-wrap items-center gap-4 border-line border-t py-4">
              <h3 className="grow text-subheading">{title}</h3>
              <Button kind="quiet" onClick={() => setPosition(title)}>
                Apply for this position
              </Button>
            </li>
          ))}
        </ul>
      </Section>
      <Dialog
        title={position || 'Position'}
        state={position === undefined ? 'closed' : 'open'}
        onClose={close}
      >
        <ApplicationForm position={position ?? ''} onOver={close} />
      </Dialog>
    </>
  );
}
