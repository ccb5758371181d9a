import { ButtonLink } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { Navigate, useParams } from '@site/kit/router.ts';
import { Section } from '@site/kit/section.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import { WithFooter } from '@site/kit/with-footer.tsx';
import type { Service } from '../content/services.ts';
import { overviewIds, services } from '../content/services.ts';

/** `/services/{serviceId}` */
export default function ServicePage() {
  const { '*': id = '' } = useParams();
  const elsewhere = overviewIds[id];
  if (elsewhere) {
    return <Navigate to={`/services/${elsewhere}`} replace={true} />;
  }
  const service = services.find(candidate => candidate.id === id);
  return service ? <Detail service={service} /> : <NotFound />;
}

function Detail({ service }: { service: Service }) {
  const { id, title, description, stats } = service;
  return (
    <>
      <PageMeta title={title} description={description} path={`/services/${id}`} />
      <StructuredData
        data={breadcrumbs(
          { title: 'Services', path: '/services' },
          { title, path: `/services/${id}` },
        )}
      />
      <PageHeader title={title} subtitle={description}>
        <ButtonLink to="/contact">Request a Demo</ButtonLink>
      </PageHeader>
      <Section title="In figures">
        <dl className="grid border border-line sm:grid-cols-3">
          {stats.map(stat => (
            <div
              key={stat.label}
              className="flex flex-col-reverse justify-end border-line border-l p-6"
            >
              <dt>{stat.label}</dt>
              <dd className="mb-1.5 font-semibold text-heading">{stat.value}</dd>
            </div>
          ))}
        </dl>
      </Section>
    </>
  );
}

function NotFound() {
  return (
    <>
      <PageMeta title="Service Not Found" description="There is no such service." />
      <PageHeader
        title="Service Not Found"
        subtitle="The service you're looking for does not exist or has been moved."
      >
        <ButtonLink to="/services">View All Services</ButtonLink>
      </PageHeader>
      <WithFooter />
    </>
  );
}
