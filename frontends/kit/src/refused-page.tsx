import type { ReactNode } from 'react';
import { Alert } from './alert.tsx';
import { brand } from './brand.ts';
import { PageHeader } from './page-header.tsx';
import { PageMeta } from './page-meta.tsx';

interface RefusedPageProps {
  title: string;
  /** Whom a visitor may write to instead. */
  email?: string;
  /** The form, with something wrong in each of its fields: `placeholderFieldErrors`. */
  children: ReactNode;
}

/**
 * No-JavaScript fallback: the form with server-side validation errors, filled in by the gateway. It is prerendered with a
 * sentence wherever one can stand; for each visitor the gateway then puts in what was entered and what is wrong
 * (`services/gateway/src/form_pages/filling.rs`). It finds its way by attributes:
 *
 * - `data-refusal`: the element that holds the sentence of the whole form;
 * - `data-error-of="<field>"`: what is wrong with a field, by an id that ends with `-error`; it goes where nothing is;
 * - `data-challenge`: the way round a challenge, for whom no script can solve it; it goes where none is asked;
 * - `name` of an input or a textarea in a form: the field.
 */
export function RefusedPage({ title, email = brand.emails.sales, children }: RefusedPageProps) {
  return (
    <>
      <PageMeta title={title} description="This form has not been accepted yet." />
      <PageHeader title={title}>
        <div className="w-full max-w-2xl">
          <Alert data-refusal="">Please check the marked fields.</Alert>
          <p data-challenge="" className="mb-5">
            What you entered is kept below. You may also write to{' '}
            <a href={`mailto:${email}`} className="underline">
              {email}
            </a>{' '}
            or call{' '}
            <a href={`tel:${brand.phone.replaceAll(' ', '')}`} className="underline">
              {brand.phone}
            </a>
            .
          </p>
          {children}
        </div>
      </PageHeader>
    </>
  );
}

/** An error at each field, where the gateway puts the real ones. */
export function placeholderFieldErrors(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map(field => [field, 'Please check this field.']));
}
