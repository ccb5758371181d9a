import { Accordion } from '@site/kit/accordion.tsx';
import { brand } from '@site/kit/brand.ts';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Reveal } from '@site/kit/reveal.tsx';
import { Section } from '@site/kit/section.tsx';
import { breadcrumbs, StructuredData } from '@site/kit/structured-data.tsx';
import { faq } from '../content/faq.ts';
import { Icon } from '../frame/icon.tsx';
import { ShellPageMeta } from '../frame/shell-page-meta.tsx';
import { ContactForm } from './contact-form.tsx';
import { OfficeMap } from './office-map.tsx';

const SUBTITLE = 'Tell us what your cameras should have noticed. We read every message.';
const { emails, phone, address } = brand;

const FAQ_PAGE = {
  '@type': 'FAQPage',
  mainEntity: faq.map(({ title, content }) => ({
    '@type': 'Question',
    name: title,
    acceptedAnswer: { '@type': 'Answer', text: content },
  })),
};

/** `/contact` */
export default function Contact() {
  return (
    <>
      <ShellPageMeta title="Contact" description={SUBTITLE} path={paths.contact} />
      <StructuredData data={FAQ_PAGE} />
      <StructuredData data={breadcrumbs({ title: 'Contact', path: paths.contact })} />
      <PageHeader
        title="Let's Connect"
        subtitle={SUBTITLE}
        breadcrumb={[]}
        icon={<Icon name="mail" className="mb-5 size-9 text-seen-ink" />}
      />
      <Section title="Send us a message">
        <div className="grid gap-12 lg:grid-cols-form">
          <div className="max-w-text text-ink-2">
            <p className="text-lead">
              The team replies within 24 hours, typically within 2 business hours.
            </p>
            <p className="mt-4">
              Questions before you buy? Write to{' '}
              <a href={`mailto:${emails.sales}`} className="text-ink underline">
                {emails.sales}
              </a>
              .
            </p>
          </div>
          <ContactForm />
        </div>
      </Section>
      <Section title="Frequently asked">
        <Accordion items={faq} />
      </Section>
      <ContactMethods />
    </>
  );
}

const METHODS = [
  { icon: 'mail', title: 'Email', text: emails.sales, href: `mailto:${emails.sales}` },
  { icon: 'phone', title: 'Call', text: phone, href: `tel:${phone.replaceAll(' ', '')}` },
  {
    icon: 'place',
    title: 'Visit',
    text: [...address.lines, address.city].join(', '),
    href: address.directionsUrl,
  },
] as const;

function ContactMethods() {
  return (
    <Section title="Other ways to reach us">
      <ul className="grid gap-5 lg:grid-cols-3">
        {METHODS.map(({ icon, title, text, href }) => (
          <li key={icon}>
            <Reveal className="h-full border border-line bg-raised p-6">
              <Icon name={icon} className="mb-4 size-7 text-seen-ink" />
              <h3 className="text-subheading">{title}</h3>
              <a
                href={href}
                className="mt-1.5 inline-flex min-h-11 items-center text-ink-2 underline"
              >
                {text}
              </a>
            </Reveal>
          </li>
        ))}
      </ul>
      <div className="mt-12">
        <OfficeMap />
      </div>
    </Section>
  );
}
