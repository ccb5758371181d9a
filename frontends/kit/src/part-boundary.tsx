import type { ReactNode } from 'react';
import { Component } from 'react';

interface BoundaryProps {
  /** Called with what shows the content again. */
  onFailure: (retry: () => void) => void;
  children: ReactNode;
}

/** Error boundary of a lazily loaded part: what throws while it is shown costs its own area only. */
export class PartBoundary extends Component<BoundaryProps, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch() {
    this.props.onFailure(() => this.setState({ isBroken: false }));
  }

  override render() {
    return this.state.isBroken ? null : this.props.children;
  }
}
