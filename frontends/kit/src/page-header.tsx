import { Link } from '@site/kit/router.ts';
import type { ReactNode } from 'react';
import * as paths from './paths.ts';

interface PageHeaderProps {
  title: string;
  subtitle?: string;
  /** Address of a picture behind the words. */
  background?: string;
  icon?: ReactNode;
  /** Breadcrumb above the title: a link to the home page, or none. */
  breadcrumb?: 'home' | 'none';
  /** Picture beside the words, or below them on narrow screens. */
  picture?: ReactNode;
  children?: ReactNode;
}

/** The top of a page: its one first-level heading and what belongs to it. */
export function PageHeader({
  title,
  subtitle,
  background,
  icon,
  breadcrumb = 'none',
  picture,
  children,
}: PageHeaderProps) {
  return (
    <header className="relative">
      {background ? (
        <img src={background} alt="" className="absolute inset-0 size-full object-cover" />
      ) : null}
      <div
        data-beside={picture ? '' : undefined}
        className="relative mx-auto grid max-w-page items-center gap-10 px-5 py-16 md:px-8 data-beside:lg:grid-cols-hero"
      >
        <div className="fade-up">
          {breadcrumb === 'home' ? (
            <nav aria-label="Breadcrumb" className="mb-4 text-small">
              <ol className="flex gap-2">
                <li>
                  <Link to={paths.home} className="py-3.5 underline">
                    Home
                  </Link>
                </li>
                <li aria-hidden="true">/</li>
                <li aria-current="page">{title}</li>
              </ol>
            </nav>
          ) : null}
          {icon}
          <h1 className="max-w-title text-title">{title}</h1>
          {subtitle ? <p className="mt-6 max-w-text text-ink-2 text-lead">{subtitle}</p> : null}
          {children ? <div className="mt-8 flex flex-wrap gap-4">{children}</div> : null}
        </div>
        {picture}
      </div>
    </header>
  );
}
