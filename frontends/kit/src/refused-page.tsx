import type { ReactNode } from 'react';
import { Alert } from './alert.tsx';
import { brand } from './brand.ts';
import { FilledByGateway } from './field.tsx';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';

interface RefusedPageProps {
  title: string;
  /** E-mail address to write to instead. */
  email?: string;
  children: ReactNode;
}

/**
 * Response to a form that was sent without JavaScript and refused: the form again. It is prerendered with
 * placeholders, such as `{{text:name}}`. The gateway replaces them with entries and errors
 * (`services/gateway/src/form_pages/filling.rs`).
 */
export function RefusedPage({ title, email = brand.emails.sales, children }: RefusedPageProps) {
  return (
    <>
      <PageMeta title={title} description="This form has not been accepted yet." />
      <PageHeader title={title}>
        <div className="w-full max-w-2xl">
          <Alert>{'{{refusal}}'}</Alert>
          <p className="mb-5">
            You may also write to{' '}
            <a href={`mailto:${email}`} className="underline">
              {email}
            </a>{' '}
            or call{' '}
            <a href={`tel:${brand.phone.replaceAll(' ', '')}`} className="underline">
              {brand.phone}
            </a>
            .
          </p>
          <FilledByGateway value={true}>{children}</FilledByGateway>
        </div>
      </PageHeader>
    </>
  );
}
