import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Section } from '@site/kit/section.tsx';

interface ClosingCallProps {
  lead: string;
  /** What can be done; the first is what we hope for. */
  actions?: readonly { title: string; path: string }[];
}

const CONSULTATION = [{ title: 'Request a Consultation', path: paths.contact }];

/** What a page ends with: the way to talk to us. */
export function ClosingCall({ lead, actions = CONSULTATION }: ClosingCallProps) {
  return (
    <Section title="Ready to Enhance Your Security?" lead={lead}>
      <div className="flex flex-wrap gap-4">
        {actions.map(({ title, path }, at) => (
          <ButtonLink key={title} to={path} kind={at === 0 ? 'main' : 'quiet'}>
            {title}
          </ButtonLink>
        ))}
      </div>
    </Section>
  );
}
