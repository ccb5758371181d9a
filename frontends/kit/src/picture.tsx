import { useEffect, useRef, useState } from 'react';
import { onNearViewport } from './on-near-viewport.ts';

interface PictureProps {
  src: string;
  alt: string;
  width: number;
  height: number;
  /** `high` loads at once. */
  priority?: 'high' | 'low';
  className?: string;
}

/** Picture that loads when it comes near the viewport, and shows a message if it fails. */
export function Picture({
  src,
  alt,
  width,
  height,
  priority = 'low',
  className = '',
}: PictureProps) {
  const { box, state, setState } = useImageState(priority);
  // A picture with high priority is in the HTML. It does not pulse, because only JavaScript ends a pulse.
  const isAwaited = state === 'waiting' || (state === 'loading' && priority === 'low');
  const image = (
    <img
      src={src}
      alt={alt}
      width={width}
      height={height}
      fetchPriority={priority === 'high' ? 'high' : 'auto'}
      className="absolute inset-0 size-full object-cover"
      onLoad={() => setState('there')}
      onError={() => setState('failed')}
    />
  );
  return (
    <span
      ref={box}
      data-state={state}
      data-awaited={isAwaited}
      className={`relative block w-full overflow-hidden data-[state=failed]:bg-sunk data-[awaited=true]:bg-sunk data-[awaited=true]:motion-safe:animate-pulse data-[awaited=true]:noscript:animate-none ${className}`}
    >
      {/* Reserves the space, because our Content Security Policy forbids style attributes. */}
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true" />
      {state === 'waiting' ? <noscript>{image}</noscript> : null}
      {state === 'loading' || state === 'there' ? image : null}
      {state === 'failed' ? (
        <span className="absolute inset-0 flex items-center justify-center text-ink-2 text-small">
          Image unavailable
        </span>
      ) : null}
    </span>
  );
}

function useImageState(priority: 'high' | 'low') {
  const [state, setState] = useState<'waiting' | 'loading' | 'there' | 'failed'>(
    priority === 'high' ? 'loading' : 'waiting',
  );
  const box = useRef<HTMLSpanElement>(null);

  useEffect(() => {
    if (state === 'waiting') {
      return onNearViewport(box.current, () => setState('loading'));
    }
    return undefined;
  }, [state]);

  // The image may have loaded or failed before hydration.
  useEffect(() => {
    const image = box.current?.querySelector('img');
    if (state === 'loading' && image?.complete) {
      setState(image.naturalWidth > 0 ? 'there' : 'failed');
    }
  }, [state]);
  return { box, state, setState };
}
