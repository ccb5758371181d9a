import { ButtonLink } from '@site/kit/button.tsx';
import { Card } from '@site/kit/card.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Link } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { services } from '../content/services.ts';
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
          {services.map(service => (
            <li key={service.id}>
              <Card className="flex h-full flex-col">
                <Icon name={service.icon} className="mb-4 size-8 text-seen-ink" />
                <h3 className="text-subheading">{service.title}</h3>
                <p className="mt-2 mb-4 grow text-ink-2">{service.description}</p>
                <Link
                  to={`/services/${service.id}`}
                  className="inline-flex min-h-11 items-center underline"
                >
                  Learn More<span className="sr-only"> about {service.title}</span>
                </Link>
              </Card>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
