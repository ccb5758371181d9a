import { brand } from '@site/kit/brand.ts';
import { ButtonLink } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Section } from '@site/kit/section.tsx';

const SUBTITLE = 'We teach cameras to notice, and to know when to keep quiet.';

/** `/about` */
export default function About() {
  return (
    <>
      <PageMeta title="About" description={SUBTITLE} path="/about" />
      <PageHeader title="Pioneering AI Security" subtitle={SUBTITLE} />
      <Section
        title="Our Vision"
        lead={`${brand.name} was founded in 2024 and pre-incubated at a technology institute in Chennai. We want the camera over the door to be as useful as the guard beside it: it sees, it understands, and it says so in time.`}
      >
        <ButtonLink to="/solutions" kind="quiet">
          See our solutions
        </ButtonLink>
      </Section>
      <Section title="Ready to Enhance Your Security?">
        <ButtonLink to="/contact">Request a Consultation</ButtonLink>
      </Section>
    </>
  );
}
