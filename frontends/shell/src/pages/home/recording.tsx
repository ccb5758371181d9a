import { Picture } from '@site/kit/picture.tsx';
import type { RefObject } from 'react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { LENGTH_SECONDS, noticedUntil } from '../../scenes/evening.ts';
import { emptyStreet, streetDrawing } from '../../scenes/street-drawing.ts';
import { Findings } from './findings.tsx';
import type { Shown } from './playback.ts';
import { Status } from './status.tsx';
import { Labels, Street } from './street.tsx';
import { Timeline } from './timeline.tsx';
import { usePlayOnce } from './use-play-once.ts';

/** Shown until the recording is ready, and without JavaScript. */
const still = (
  <Picture
    {...streetDrawing}
    priority="high"
    alt="A shop’s door seen by a camera: a parcel and a van are marked as alerts, staff are on the way"
  />
);

/** A recorded evening at a shop's door. It plays once by itself. Then the visitor can choose a time. */
export function Recording() {
  const stage = useRef<HTMLDivElement>(null);
  const street = useStreet();
  const isReady = street === 'there';
  const { shown, seconds, goTo, tellNow } = usePosition(stage, isReady);
  return (
    <figure>
      <div className="border border-line bg-sunk">
        <Status shown={shown} seconds={seconds} />
        <div ref={stage} className="relative">
          {still}
          {isReady && shown !== LENGTH_SECONDS ? (
            <Street src={emptyStreet.src} shown={shown} />
          ) : null}
          {street === 'lost' ? null : <Labels shown={shown} />}
        </div>
        <div className="timeline relative min-h-11 noscript:hidden">
          {isReady ? (
            <Timeline shown={shown} seconds={seconds} onChange={goTo} onKeyDown={tellNow} />
          ) : null}
        </div>
      </div>
      <Findings
        noticed={noticedUntil(seconds).length}
        isPlaying={shown === 'playing'}
        onChoose={isReady ? goTo : undefined}
      />
    </figure>
  );
}

/** Load state of the empty street. Until it has loaded, only the still picture shows. */
function useStreet() {
  const [state, setState] = useState<'awaited' | 'there' | 'lost'>('awaited');
  useEffect(() => {
    const image = new Image();
    image.src = emptyStreet.src;
    image.decode().then(
      () => setState('there'),
      () => setState('lost'),
    );
  }, []);
  return state;
}

/** During playback `seconds` stays at the end, because updating it would render each frame. */
function usePosition(stage: RefObject<Element | null>, isReady: boolean) {
  const [shown, show] = useState<Shown>(LENGTH_SECONDS);
  const [seconds, tell] = useState(LENGTH_SECONDS);
  const player = usePlayOnce(stage, isReady, show, tell);
  const goTo = useCallback(
    (chosen: number) => {
      player.current?.stop();
      player.current = undefined;
      show(chosen);
      tell(chosen);
    },
    [player],
  );
  const tellNow = () => player.current?.tellNow?.();
  return { shown, seconds, goTo, tellNow };
}
