import { ButtonLink } from '@site/kit/button.tsx';
import { Card } from '@site/kit/card.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Section } from '@site/kit/section.tsx';
import { overviewIds } from '../content/services.ts';
import type { OverviewService } from '../content/services-overview.ts';
import { overview, tiles } from '../content/services-overview.ts';
import { CallToAction } from '../frame/call-to-action.tsx';
import { Icon } from '../frame/icon.tsx';
import { ShellPageMeta } from '../frame/shell-page-meta.tsx';
import { scenes } from '../scenes/scenes.ts';

const PRELOADED = 3;
const SUBTITLE =
  'A jeweller and a junction need different eyes. Six services, each for one kind of place.';

/** `/services` */
export default function Services() {
  return (
    <>
      <ShellPageMeta title="Services" description={SUBTITLE} path={paths.services} />
      <PageHeader title="Tailored Security Services" subtitle={SUBTITLE}>
        <ButtonLink to={paths.contact}>Get Started</ButtonLink>
      </PageHeader>
      <Section title="Six kinds of places">
        <ul className="grid gap-5 md:grid-cols-2 lg:grid-cols-3">
          {overview.map((service, at) => (
            <li key={service.id}>
              <Overview service={service} priority={at < PRELOADED ? 'high' : 'low'} />
            </li>
          ))}
        </ul>
      </Section>
      {overview.map((service, at) => (
        <ServiceSection key={service.id} service={service} side={at % 2 === 0 ? 'left' : 'right'} />
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
      <CallToAction
        lead="Tell us which of these places is yours, and what must never happen there."
        actions={[
          { title: 'Request a Consultation', path: paths.contact },
          { title: 'Schedule a Consultation', path: paths.contact },
          { title: 'Learn About Our Solutions', path: paths.solutions },
        ]}
      />
    </>
  );
}

function Overview({ service, priority }: { service: OverviewService; priority: 'high' | 'low' }) {
  const { id, title, description, icon, features } = service;
  const { whole } = scenes[overviewIds[id]];
  return (
    <Card className="flex h-full flex-col p-6">
      <Picture {...whole} alt="" priority={priority} className="mb-5" />
      <h3 className="flex items-center gap-3 text-subheading">
        <Icon name={icon} className="size-6 shrink-0 text-seen-ink" />
        {title}
      </h3>
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
        <ButtonLink to={paths.contact} size="small" variant="secondary">
          Get Started
        </ButtonLink>
      </p>
    </Card>
  );
}

function ServiceSection({ service, side }: { service: OverviewService; side: 'left' | 'right' }) {
  const { id, title, description, benefits, useCases } = service;
  return (
    <Section id={id} title={title} lead={description}>
      <div data-side={side} className="group grid gap-x-12 gap-y-10 lg:grid-cols-2">
        <Picture
          {...scenes[overviewIds[id]].main}
          alt=""
          className="self-start border border-line bg-raised group-data-[side=right]:lg:order-last"
        />
        <div>
          <h3 className="text-subheading">Key Benefits</h3>
          <ul className="mt-3 mb-6 list-[square] pl-5 text-ink-2">
            {benefits.map(benefit => (
              <li key={benefit} className="mt-1">
                {benefit}
              </li>
            ))}
          </ul>
          <ButtonLink to={paths.service(overviewIds[id])} variant="secondary">
            Learn More<span className="sr-only"> about {title}</span>
          </ButtonLink>
        </div>
        <div className="lg:order-last lg:col-span-2">
          <h3 className="text-subheading">How {title} Works in Practice</h3>
          <ol className="mt-4 grid border-line border-t sm:grid-cols-2 sm:gap-x-8 lg:grid-cols-3">
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
