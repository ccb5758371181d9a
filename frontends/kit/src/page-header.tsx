import { Link } from '@site/kit/router.ts';
import type { ReactNode } from 'react';
import { Fragment } from 'react';
import * as paths from './paths.ts';

interface PageHeaderProps {
  title: string;
  subtitle?: string;
  icon?: ReactNode;
  /** Pages between the home page and this one. */
  breadcrumb?: readonly { title: string; path: string }[];
  picture?: ReactNode;
  children?: ReactNode;
}

/** Top of a page, with its only `h1`. */
export function PageHeader({
  title,
  subtitle,
  icon,
  breadcrumb,
  picture,
  children,
}: PageHeaderProps) {
  return (
    <header className="relative">
      <div
        data-beside={picture ? '' : undefined}
        className="relative mx-auto grid max-w-page items-center gap-10 px-5 py-16 md:px-8 data-beside:lg:grid-cols-hero"
      >
        <div className="fade-up">
          {breadcrumb ? (
            <nav aria-label="Breadcrumb" className="mb-4 text-small">
              <ol className="flex flex-wrap gap-2">
                {[{ title: 'Home', path: paths.home }, ...breadcrumb].map(step => (
                  <li key={step.path}>
                    <Link to={step.path} className="mr-2 py-3.5 underline">
                      {step.title}
                    </Link>
                    <span aria-hidden="true">/</span>
                  </li>
                ))}
                <li aria-current="page">{title}</li>
              </ol>
            </nav>
          ) : null}
          {icon}
          <h1 className="max-w-title text-title">{breakable(title)}</h1>
          {subtitle ? <p className="mt-6 max-w-text text-ink-2 text-lead">{subtitle}</p> : null}
          {children ? <div className="mt-8 flex flex-wrap gap-4">{children}</div> : null}
        </div>
        {picture}
      </div>
    </header>
  );
}

/** Allows a line break after a slash, because words that it joins may be wider than a phone. */
function breakable(title: string): ReactNode {
  return title.split(/(?<=\/)/).map((part, at) => (
    <Fragment key={part}>
      {at > 0 ? <wbr /> : null}
      {part}
    </Fragment>
  ));
}
