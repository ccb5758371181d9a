import { brand } from '@site/kit/brand.ts';
import * as paths from '@site/kit/paths.ts';
import type { Clause } from '../frame/legal-page.tsx';
import { LegalPage, postalAddress } from '../frame/legal-page.tsx';

const { name, emails } = brand;

const clauses: readonly Clause[] = [
  {
    title: '1. Agreement',
    paragraphs: [
      `These terms are an agreement between you and ${name}. By using this site or our services you accept them. If you do not accept them, do not use the site or the services.`,
    ],
  },
  {
    title: '2. Use of the services',
    paragraphs: [
      'Where a service needs an account, what you say of yourself must be accurate and kept up to date, and your credentials are yours to protect.',
      'We grant you a limited, non-exclusive, non-transferable and revocable licence to use the services for your own lawful security purposes. You may not resell them, take them apart, or use them to watch people unlawfully.',
    ],
  },
  {
    title: '3. Intellectual property',
    paragraphs: [
      `The site, its texts and drawings, our software and our models belong to ${name} or its licensors. Your footage stays yours.`,
    ],
  },
  {
    title: '4. Limitation of liability',
    paragraphs: [
      'Our services help people notice; they replace neither guards nor locks nor emergency services. To the extent that the law permits, we are not liable for indirect or consequential damage, nor for incidents that were not detected.',
    ],
  },
  {
    title: '5. Governing law',
    paragraphs: [
      'These terms are governed by the laws of India. The courts of Chennai have jurisdiction.',
    ],
  },
  {
    title: '6. Changes',
    paragraphs: [
      'We may change these terms. For material changes we attempt to give at least 30 days’ notice before they take effect.',
    ],
  },
  {
    title: '7. Contact',
    paragraphs: [`${postalAddress}. E-mail: ${emails.admin}.`],
  },
];

/** `/terms` */
export default function Terms() {
  return (
    <LegalPage
      title="Terms of Service"
      description={`What holds when you use this site and the services of ${name}.`}
      path={paths.terms}
      icon="document"
      clauses={clauses}
    />
  );
}
