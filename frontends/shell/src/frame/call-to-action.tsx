import { ButtonLink } from '@site/kit/button.tsx';
import * as paths from '@site/kit/paths.ts';
import { Section } from '@site/kit/section.tsx';

interface CallToActionProps {
  lead: string;
  /** The first is the primary action. */
  actions?: readonly { title: string; path: string }[];
}

const CONSULTATION = [{ title: 'Request a Consultation', path: paths.contact }];

export function CallToAction({ lead, actions = CONSULTATION }: CallToActionProps) {
  return (
    <Section
      title="Ready to Enhance Your Security?"
      lead={lead}
      heading="beside"
      className="bg-raised"
    >
      <div className="flex flex-wrap gap-4 lg:justify-end">
        {actions.map(({ title, path }, at) => (
          <ButtonLink key={title} to={path} variant={at === 0 ? 'primary' : 'secondary'}>
            {title}
          </ButtonLink>
        ))}
      </div>
    </Section>
  );
}
