import { ButtonLink } from '@site/kit/button.tsx';
import { Card } from '@site/kit/card.tsx';
import { MessagePage } from '@site/kit/message-page.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Link, useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import type { ServiceDetail } from '../content/service-detail.ts';
import { details } from '../content/service-details.ts';
import type { Service } from '../content/services.ts';
import { services } from '../content/services.ts';
import { solutions } from '../content/solutions.ts';
import { CallToAction } from '../frame/call-to-action.tsx';
import type { SceneOfService } from '../scenes/scenes.ts';
import { emptyRoom, scenes } from '../scenes/scenes.ts';
import { SolutionTeaser } from './solution-teaser.tsx';

const OTHERS = 3;
const SHOWN_CHARACTERS = 60;

/** `/services/{serviceId}` */
export default function ServicePage() {
  const { '*': id = '' } = useParams();
  const service = services.find(candidate => candidate.id === id);
  return service ? <ServiceBody service={service} /> : <ServiceNotFound />;
}

interface ServiceProps {
  service: Service;
  detail: ServiceDetail;
  scene: SceneOfService;
}

function ServiceBody({ service }: { service: Service }) {
  const { id, title, description } = service;
  const detail = details[id];
  const scene = scenes[id];
  const crumbs = breadcrumbs(
    { title: 'Services', path: paths.services },
    { title, path: paths.service(id) },
  );
  return (
    <>
      <PageMeta
        title={title}
        description={description}
        path={paths.service(id)}
        picture={`/previews/${id}.jpg`}
      />
      <StructuredData data={crumbs} />
      <PageHeader
        title={title}
        subtitle={description}
        picture={<Picture {...scene.whole} priority="high" alt={detail.sceneAlt} />}
      >
        <ButtonLink to={paths.contact}>Request a Demo</ButtonLink>
      </PageHeader>
      <Stats {...service} />
      <ServiceDescription service={service} detail={detail} scene={scene} />
      <KeyFeatures detail={detail} scene={scene} />
      <RecommendedSolutions {...detail} />
      <Workflow {...detail} />
      <CallToAction
        lead="Show us a floor plan and an hour of footage. We will show you what your cameras already know."
        actions={[
          { title: 'Request a Demo', path: paths.contact },
          { title: 'View All Services', path: paths.services },
        ]}
      />
    </>
  );
}

function Stats({ stats }: Service) {
  return (
    <div className="mx-auto max-w-page px-5 pb-16 md:px-8">
      <dl className="grid border border-line sm:grid-cols-3">
        {stats.map(stat => (
          <div
            key={stat.label}
            className="flex flex-col-reverse justify-end border-line border-t p-6 first:border-t-0 sm:border-t-0 sm:border-l sm:first:border-l-0"
          >
            <dt className="text-ink-2">{stat.label}</dt>
            <dd className="mb-1.5 font-semibold text-heading">{stat.value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function KeyFeatures({ detail, scene }: Omit<ServiceProps, 'service'>) {
  // Decorative: the text beside it says the same.
  const closeUps = scene.features.map(view => <Picture key={view.src} {...view} alt="" />);
  return (
    <Section title="Key Features">
      <ul className="grid gap-5 sm:grid-cols-2 lg:grid-cols-3">
        {detail.features.map((feature, at) => (
          <li key={feature.title}>
            <Card className="h-full">
              {closeUps[at]}
              <div className="border-line border-t p-6">
                <h3 className="text-subheading">{feature.title}</h3>
                <p className="mt-1.5 text-ink-2">{feature.description}</p>
              </div>
            </Card>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RecommendedSolutions({ recommended }: ServiceDetail) {
  return (
    <Section title="Recommended Services">
      <ul className="grid gap-x-10 gap-y-8 sm:grid-cols-2 lg:grid-cols-3">
        {solutions
          .filter(solution => recommended.includes(solution.id))
          .map(solution => (
            <li key={solution.id} className="border-line border-t pt-5">
              <SolutionTeaser solution={solution} />
            </li>
          ))}
      </ul>
    </Section>
  );
}

function ServiceDescription({ service, detail, scene }: ServiceProps) {
  return (
    <Section title="What it is about">
      <div className="grid gap-12 lg:grid-cols-aside">
        <div className="max-w-text">
          <Picture {...scene.main} alt="" className="mb-8 border border-line bg-raised" />
          {detail.paragraphs.map(paragraph => (
            <p key={paragraph} className="mb-5">
              {paragraph}
            </p>
          ))}
        </div>
        <aside>
          <div className="border border-line bg-raised p-6">
            <h3 className="text-subheading">Key Benefits</h3>
            <ul className="mt-3 mb-6 list-[square] pl-5 text-ink-2">
              {detail.benefits.map(benefit => (
                <li key={benefit} className="mt-1.5">
                  {benefit}
                </li>
              ))}
            </ul>
            <ButtonLink to={paths.contact}>Request a Demo</ButtonLink>
          </div>
          <nav aria-label="Explore Other Services" className="mt-8">
            <h3 className="text-subheading">Explore Other Services</h3>
            <ul className="mt-3">
              {services
                .filter(({ id }) => id !== service.id)
                .slice(0, OTHERS)
                .map(other => (
                  <li key={other.id} className="border-line border-t">
                    <Link to={paths.service(other.id)} className="block py-3 hover:bg-sunk">
                      <span className="block font-semibold">{other.title}</span>
                      <span className="block text-ink-2 text-small">
                        {`${other.description.slice(0, SHOWN_CHARACTERS)}…`}
                      </span>
                    </Link>
                  </li>
                ))}
            </ul>
          </nav>
        </aside>
      </div>
    </Section>
  );
}

function Workflow({ workflow }: ServiceDetail) {
  return (
    <Section title="How It Works">
      <ol className="relative md:before:absolute md:before:inset-y-0 md:before:left-1/2 md:before:border-line md:before:border-l">
        {workflow.map(({ emoji, title, description }, at) => (
          <li
            key={title}
            className={`py-4 md:w-1/2 ${at % 2 === 0 ? 'md:pr-12 md:text-right' : 'md:ml-auto md:pl-12'}`}
          >
            <span aria-hidden="true" className="text-heading">
              {emoji}
            </span>
            <h3 className="mt-1 text-subheading">{title}</h3>
            <p className="mt-1 text-ink-2">{description}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function ServiceNotFound() {
  return (
    <MessagePage
      title="Service Not Found"
      text="The service you're looking for does not exist or has been moved."
      next={{ title: 'View All Services', path: paths.services }}
      picture={<Picture {...emptyRoom} alt="" priority="high" />}
    />
  );
}
