import { brand } from '@site/kit/brand.ts';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { useReveal } from '@site/kit/reveal.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import type { ComponentProps } from 'react';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';
import { ShellPageMeta } from './shell-page-meta.tsx';

export interface Clause {
  title: string;
  paragraphs: readonly string[];
}

interface LegalPageProps extends ComponentProps<typeof ShellPageMeta> {
  icon: IconName;
  clauses: readonly Clause[];
}

export function LegalPage({ title, description, path, icon, clauses }: LegalPageProps) {
  return (
    <>
      <ShellPageMeta title={title} description={description} path={path} />
      <StructuredData data={breadcrumbs({ title, path })} />
      <PageHeader
        title={title}
        subtitle="Last updated April 30, 2025"
        breadcrumb={[]}
        icon={<Icon name={icon} className="mb-5 size-9 text-seen-ink" />}
      />
      <div className="mx-auto max-w-page px-5 pb-20 md:px-8">
        {clauses.map(clause => (
          <ClauseText key={clause.title} {...clause} />
        ))}
      </div>
      <FooterMarker />
    </>
  );
}

function ClauseText({ title, paragraphs }: Clause) {
  return (
    <section {...useReveal<HTMLElement>()} className="max-w-text border-line border-t py-8">
      <h2 className="text-subheading">{title}</h2>
      {paragraphs.map(paragraph => (
        <p key={paragraph} className="mt-3 text-ink-2">
          {paragraph}
        </p>
      ))}
    </section>
  );
}

export const postalAddress: string = [
  brand.name,
  ...brand.address.lines,
  brand.address.city,
  brand.address.country,
].join(', ');
