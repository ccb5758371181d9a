import type { ReactNode } from 'react';
import { Component } from 'react';

interface BoundaryProps {
  /** Called with a function that renders the content again. */
  onFailure: (retry: () => void) => void;
  children: ReactNode;
}

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
