import { Button } from '@site/kit/button.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import { useLocation } from '@site/kit/router.ts';
import type { ReactNode } from 'react';
import { Component } from 'react';
import { loadLostPage } from './page-change.ts';

interface Boundary {
  /** A new path clears the error. */
  path: string;
  children: ReactNode;
}

export function PageErrorBoundary({ children }: { children: ReactNode }) {
  return <ErrorBoundary path={useLocation().pathname}>{children}</ErrorBoundary>;
}

interface BoundaryState {
  failed: { path: string; message: string } | undefined;
}

class ErrorBoundary extends Component<Boundary, BoundaryState> {
  override state: BoundaryState = { failed: undefined };

  static getDerivedStateFromError(failure: unknown): BoundaryState {
    const message = failure instanceof Error ? failure.message : String(failure);
    return { failed: { path: location.pathname, message } };
  }

  static getDerivedStateFromProps(
    { path }: Boundary,
    { failed }: BoundaryState,
  ): BoundaryState | null {
    return failed && failed.path !== path ? { failed: undefined } : null;
  }

  override componentDidCatch() {
    loadLostPage();
  }

  override render() {
    const { failed } = this.state;
    return failed ? <Screen message={failed.message} /> : this.props.children;
  }
}

function Screen({ message }: { message: string }) {
  return (
    <>
      <PageMeta title="Unexpected Application Error!" description="Something went wrong." />
      <PageHeader title="Unexpected Application Error!" subtitle={message}>
        {/* Not a link, which only scrolls if the URL has a hash. */}
        <Button onClick={() => location.reload()}>Load this page again</Button>
      </PageHeader>
    </>
  );
}
