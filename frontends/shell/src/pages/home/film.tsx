import { hearEarlyPress } from '@site/kit/early-press.ts';
import { LoadError } from '@site/kit/load-error.tsx';
import type { ComponentProps, RefObject, SyntheticEvent } from 'react';
import { useEffect, useRef, useState } from 'react';
import captions from '../../film/captions.vtt';
import mp4 from '../../film/film.mp4';
import webm from '../../film/film.webm';
import poster from '../../film/poster.webp';

type VideoEvent = SyntheticEvent<HTMLVideoElement>;
type State = 'not started' | 'playing' | 'paused' | 'lost';

/** Attributes of the video, with our controls and with native ones. */
const FILM = {
  preload: 'none',
  playsInline: true,
  width: 640,
  height: 360,
  'aria-label': 'Promotional film',
} as const;

/** If the browser blocks sound, the film plays muted with native controls. */
export function Film() {
  const { video, button, state, progress, hasNativeControls, press, play, lose, events } =
    useVideoPlayer();
  return (
    <div className="w-full max-w-100 md:max-w-150">
      <div className="relative aspect-video overflow-hidden border border-line bg-sunk">
        <video
          ref={video}
          {...FILM}
          controls={hasNativeControls}
          // Firefox would make the video a tab stop.
          tabIndex={hasNativeControls ? undefined : -1}
          {...events}
          className="absolute inset-0 size-full noscript:hidden"
        >
          <Sources onLost={lose} />
          <track kind="captions" src={captions} srcLang="en" label="English" default />
        </video>
        <NoscriptVideo />
        {state === 'not started' || state === 'lost' ? (
          <img
            src={poster}
            alt="A shop at night, seen by a camera that has found someone hiding goods"
            width={640}
            height={360}
            className="absolute inset-0 size-full object-cover noscript:hidden"
          />
        ) : null}
        {hasNativeControls ? null : (
          <PlayButton ref={button} isPlaying={state === 'playing'} onClick={press} />
        )}
      </div>
      <progress
        aria-label="Film"
        value={progress}
        max={1}
        className="progress h-1 noscript:hidden"
      />
      {state === 'lost' ? <LoadError what="The film" onRetry={play} className="mt-4" /> : null}
    </div>
  );
}

function useVideoPlayer() {
  const video = useRef<HTMLVideoElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => hearEarlyPress(button.current), []);
  const playback = usePlayback(video);
  const { state, setState, setHasNativeControls, reset } = playback;
  const lose = () => reset('lost');

  async function play() {
    const element = video.current;
    setState('playing');
    if (state === 'lost') {
      element?.load();
      // The Retry button had the focus and is gone.
      button.current?.focus();
    }
    try {
      await element?.play();
    } catch (failure) {
      await recover(failure);
    }
  }

  async function recover(failure: unknown) {
    const element = video.current;
    const { name } = failure instanceof DOMException ? failure : { name: 'unknown' };
    if (element && name === 'NotAllowedError') {
      element.muted = true;
      setHasNativeControls(true);
      await element.play().catch(() => setState('paused'));
    } else if (name !== 'AbortError') {
      lose();
    }
    // An `AbortError` means that the visitor paused.
  }

  const press = () => (state === 'playing' ? video.current?.pause() : play());
  return { ...playback, video, button, press, play, lose };
}

function usePlayback(video: RefObject<HTMLVideoElement | null>) {
  const [state, setState] = useState<State>('not started');
  const [progress, setProgress] = useState(0);
  const [hasNativeControls, setHasNativeControls] = useState(false);

  function reset(next: 'not started' | 'lost') {
    setState(next);
    setProgress(0);
    setHasNativeControls(false);
    if (video.current) {
      video.current.currentTime = 0;
    }
  }

  const events = {
    onPlay: () => setState('playing'),
    onPause: () => setState(before => (before === 'playing' ? 'paused' : before)),
    onTimeUpdate: ({ currentTarget: { currentTime, duration } }: VideoEvent) =>
      setProgress(duration > 0 ? currentTime / duration : 0),
    onEnded: () => reset('not started'),
    // React also calls this if one `source` element fails, although the other may still load.
    onError: ({ currentTarget }: VideoEvent) => currentTarget.error && reset('lost'),
  };
  return { state, setState, progress, hasNativeControls, setHasNativeControls, reset, events };
}

function NoscriptVideo() {
  return (
    <noscript>
      <video {...FILM} controls poster={poster} className="absolute inset-0 size-full">
        <Sources />
        <track kind="captions" src={captions} srcLang="en" label="English" default />
      </video>
    </noscript>
  );
}

interface PlayButtonProps extends ComponentProps<'button'> {
  isPlaying: boolean;
}

function PlayButton({ isPlaying, ...rest }: PlayButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      aria-label={isPlaying ? 'Pause' : 'Play'}
      // The container would clip a focus ring outside the button.
      className="absolute inset-0 size-full cursor-pointer -outline-offset-8 noscript:hidden"
    >
      {isPlaying ? null : (
        <span className="absolute inset-0 m-auto flex size-16 items-center justify-center rounded-control bg-seen">
          <svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">
            <path d="M7 4l13 8-13 8z" fill="var(--on-seen)" />
          </svg>
        </span>
      )}
    </button>
  );
}

/** Some browsers do not reject `play()` if no file loads. */
function Sources({ onLost }: { onLost?: () => void }) {
  return (
    <>
      <source src={webm} type="video/webm" />
      <source src={mp4} type="video/mp4" onError={onLost} />
    </>
  );
}
