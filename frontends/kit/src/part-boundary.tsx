import type { ReactNode } from 'react';
import { Component } from 'react';

interface BoundaryProps {
  /** What is shown instead of content that fails; pressing Retry shows the content again. */
  fallback: (onRetry: () => void) => ReactNode;
  onFailure: () => void;
  children: ReactNode;
}

/** Error boundary of a lazily loaded part: what throws while it is shown costs its own area only. */
export class PartBoundary extends Component<BoundaryProps, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch() {
    this.props.onFailure();
  }

  override render() {
    const { fallback, children } = this.props;
    return this.state.isBroken ? fallback(() => this.setState({ isBroken: false })) : children;
  }
}
