import { useEffect, useRef, useState } from 'react';
import { onNearViewport } from './on-near-viewport.ts';

interface PictureProps {
  src: string;
  alt: string;
  width: number;
  height: number;
  /** What is shown instead on screens narrower than 40 rem, where it has to be read, too. */
  narrow?: { src: string; width: number; height: number };
  /** A picture with priority loads at once. */
  priority?: 'high' | 'low';
  className?: string;
}

/** Screens on which the narrow form of a picture is shown: below Tailwind's `sm`. */
const NARROW = '(max-width: 39.99rem)';

/** Lazily loaded picture: it loads shortly before it comes into the viewport, and says so when it cannot. */
export function Picture({
  src,
  alt,
  width,
  height,
  narrow,
  priority = 'low',
  className = '',
}: PictureProps) {
  const { box, state, setState } = useImageState(priority);
  // What has priority is in the page's HTML, where nothing would end its pulse without JavaScript.
  const isAwaited = state === 'waiting' || (state === 'loading' && priority === 'low');
  const drawn = (
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
  const image = narrow ? (
    <picture>
      <source media={NARROW} srcSet={narrow.src} />
      {drawn}
    </picture>
  ) : (
    drawn
  );
  return (
    <span
      ref={box}
      data-state={state}
      data-awaited={isAwaited}
      className={`relative block w-full overflow-hidden data-[state=failed]:bg-sunk data-[awaited=true]:bg-sunk data-[awaited=true]:motion-safe:animate-pulse data-[awaited=true]:noscript:animate-none ${className}`}
    >
      {/* Holds the place: our Content Security Policy forbids a style in the page's HTML. */}
      <svg
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
        className={narrow ? 'max-sm:hidden' : undefined}
      />
      {narrow ? (
        <svg
          viewBox={`0 0 ${narrow.width} ${narrow.height}`}
          aria-hidden="true"
          className="sm:hidden"
        />
      ) : null}
      {narrow && priority === 'high' ? <Preloads wide={src} narrow={narrow.src} /> : null}
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

/** Of a `picture` React preloads nothing by itself. */
function Preloads({ wide, narrow }: { wide: string; narrow: string }) {
  const link = { rel: 'preload', as: 'image', fetchPriority: 'high' } as const;
  return (
    <>
      <link {...link} href={wide} media="(min-width: 40rem)" />
      <link {...link} href={narrow} media={NARROW} />
    </>
  );
}

/** Load state of an image. One with priority loads at once, any other when it comes near the viewport. */
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

  // It may have come, or failed, before anyone listened.
  useEffect(() => {
    const image = box.current?.querySelector('img');
    if (state === 'loading' && image?.complete) {
      setState(image.naturalWidth > 0 ? 'there' : 'failed');
    }
  }, [state]);
  return { box, state, setState };
}
