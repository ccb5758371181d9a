import { ButtonLink } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Section } from '@site/kit/section.tsx';
import { solutions } from '../content/solutions.ts';

const SUBTITLE = 'Twelve building blocks. Take the ones your site needs, and add others later.';

/** `/solutions` */
export default function Solutions() {
  return (
    <>
      <PageMeta title="Solutions" description={SUBTITLE} path="/solutions" />
      <PageHeader title="Advanced Security Solutions" subtitle={SUBTITLE}>
        <ButtonLink to="/contact">Request a Demo</ButtonLink>
      </PageHeader>
      <Section title="All twelve">
        <ul className="grid gap-x-10 gap-y-8 md:grid-cols-2">
          {solutions.map(({ id, title, description }) => (
            <li key={id} id={id} className="border-line border-t pt-5">
              <h3 className="text-subheading">{title}</h3>
              <p className="mt-1.5 text-ink-2">{description}</p>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
