import { ButtonLink } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Section } from '@site/kit/section.tsx';
import type { OverviewService } from '../content/overview.ts';
import { overview, tiles } from '../content/overview.ts';
import { overviewIds } from '../content/services.ts';
import { Icon } from '../frame/icon.tsx';

const SUBTITLE =
  'A jeweller and a junction need different eyes. Six services, each for one kind of place.';

/** `/services` */
export default function Services() {
  return (
    <>
      <PageMeta title="Services" description={SUBTITLE} path="/services" />
      <PageHeader title="Tailored Security Services" subtitle={SUBTITLE}>
        <ButtonLink to="/contact">Get Started</ButtonLink>
      </PageHeader>
      <Section title="Six kinds of places">
        <ul className="grid gap-5 md:grid-cols-2 lg:grid-cols-3">
          {overview.map(service => (
            <li key={service.id}>
              <Card {...service} />
            </li>
          ))}
        </ul>
      </Section>
      {overview.map(service => (
        <Detail key={service.id} {...service} />
      ))}
      <Section title="Why Choose Our Security Solutions">
        <ul className="grid border-line border-t border-l sm:grid-cols-2 lg:grid-cols-4">
          {tiles.map(({ title, text }) => (
            <li key={title} className="border-line border-r border-b p-6">
              <h3 className="text-subheading">{title}</h3>
              <p className="mt-1.5 text-ink-2">{text}</p>
            </li>
          ))}
        </ul>
      </Section>
      <Section
        title="Ready to Enhance Your Security?"
        lead="Tell us which of these places is yours, and what must never happen there."
      >
        <div className="flex flex-wrap gap-4">
          <ButtonLink to="/contact">Request a Consultation</ButtonLink>
          <ButtonLink to="/contact" kind="quiet">
            Schedule a Consultation
          </ButtonLink>
          <ButtonLink to="/solutions" kind="quiet">
            Learn About Our Solutions
          </ButtonLink>
        </div>
      </Section>
    </>
  );
}

function Card({ id, title, description, icon, features }: OverviewService) {
  return (
    <article className="card-seen flex h-full flex-col border border-line bg-raised p-6">
      <Icon name={icon} className="mb-4 size-10 text-seen-ink" />
      <h3 className="text-subheading">{title}</h3>
      <p className="mt-2 text-ink-2">{description}</p>
      <h4 className="mt-4 font-semibold text-small">Key Features</h4>
      <ul className="mt-1 mb-5 grow list-[square] pl-5 text-ink-2 text-small">
        {features.map(feature => (
          <li key={feature}>{feature}</li>
        ))}
      </ul>
      <p className="flex flex-wrap gap-x-6">
        <a href={`#${id}`} className="inline-flex min-h-11 items-center underline">
          Learn more<span className="sr-only"> about {title}</span>
        </a>
        <ButtonLink to="/contact" size="small" kind="quiet">
          Get Started
        </ButtonLink>
      </p>
    </article>
  );
}

function Detail({ id, title, description, icon, benefits, useCases }: OverviewService) {
  return (
    <Section id={id} title={title} lead={description}>
      <div className="grid gap-10 lg:grid-cols-[1fr_1.6fr]">
        <div>
          <Icon name={icon} className="mb-6 size-24 text-seen-ink" />
          <h3 className="text-subheading">Key Benefits</h3>
          <ul className="mt-3 mb-6 list-[square] pl-5 text-ink-2">
            {benefits.map(benefit => (
              <li key={benefit} className="mt-1">
                {benefit}
              </li>
            ))}
          </ul>
          <ButtonLink to={`/services/${overviewIds[id]}`} kind="quiet">
            Learn More<span className="sr-only"> about {title}</span>
          </ButtonLink>
        </div>
        <div>
          <h3 className="text-subheading">How {title} Works in Practice</h3>
          <ol className="mt-4 grid border-line border-t sm:grid-cols-2 sm:gap-x-8">
            {useCases.map(useCase => (
              <li key={useCase} className="border-line border-b py-4">
                {useCase}
              </li>
            ))}
          </ol>
        </div>
      </div>
    </Section>
  );
}
