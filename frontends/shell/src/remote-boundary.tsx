import type { ReactNode } from 'react';
import { Component } from 'react';
import type { RemoteFailure } from './remote-failure.ts';
import { reportFailure } from './remote-failure.ts';

interface BoundaryProps {
  remote: RemoteFailure['remote'];
  /** What is shown instead of content that fails; pressing Retry shows the content again. */
  fallback: (onRetry: () => void) => ReactNode;
  children: ReactNode;
}

/** Keeps it within its area when a remote throws while it is shown. */
export class RemoteBoundary extends Component<BoundaryProps, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch() {
    reportFailure({ remote: this.props.remote, reason: 'broken' });
  }

  override render() {
    const { fallback, children } = this.props;
    return this.state.isBroken ? fallback(() => this.setState({ isBroken: false })) : children;
  }
}
