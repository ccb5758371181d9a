import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { useLocation } from '@site/kit/router.ts';
import type { ReactNode } from 'react';
import { Component } from 'react';

interface Boundary {
  /** Where the visitor is: an error does not outlive the page it is of. */
  path: string;
  children: ReactNode;
}

/** What a visitor sees when a page cannot be shown. */
export function ErrorScreen({ children }: { children: ReactNode }) {
  return <ErrorBoundary path={useLocation().pathname}>{children}</ErrorBoundary>;
}

class ErrorBoundary extends Component<Boundary, { failed?: { path: string; message: string } }> {
  override state: { failed?: { path: string; message: string } } = {};

  static getDerivedStateFromError(failure: unknown) {
    const message = failure instanceof Error ? failure.message : String(failure);
    return { failed: { path: location.pathname, message } };
  }

  override render() {
    const { failed } = this.state;
    return failed?.path === this.props.path ? (
      <Screen message={failed.message} />
    ) : (
      this.props.children
    );
  }
}

function Screen({ message }: { message: string }) {
  return (
    <>
      <PageMeta title="Unexpected Application Error!" description="Something went wrong." />
      <PageHeader title="Unexpected Application Error!" subtitle={message}>
        <a href={typeof location === 'undefined' ? '/' : location.href} className="underline">
          Load this page again
        </a>
      </PageHeader>
    </>
  );
}
