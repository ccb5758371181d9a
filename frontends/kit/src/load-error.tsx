import type { Ref } from 'react';
import { Button } from './button.tsx';
import { PageMeta } from './page-meta.tsx';

interface LoadErrorProps {
  ref?: Ref<HTMLDivElement>;
  /** Name of the part. Without a name, the whole page failed, and the message is the page's title and h1. */
  what: string | undefined;
  /** Undefined during a retry. */
  onRetry: (() => void) | undefined;
  className?: string;
}

/** Error message with Retry. It stays during a retry, because its button may have the focus. */
export function LoadError({
  ref,
  what,
  onRetry,
  className = 'mx-auto max-w-page px-5 py-16 md:px-8',
}: LoadErrorProps) {
  const title = `${what ?? 'This page'} did not load`;
  const Title = what ? 'p' : 'h1';
  return (
    <div ref={ref} role="alert" className={className}>
      {what ? null : <PageMeta title={title} description={title} />}
      <Title className="text-heading">{title}</Title>
      <p className="mt-2 mb-6 max-w-text text-ink-2">Check your connection, or try again later.</p>
      <Button variant="secondary" aria-disabled={!onRetry} onClick={onRetry}>
        {onRetry ? 'Retry' : 'Trying again…'}
      </Button>
    </div>
  );
}
