import { Picture } from '@site/kit/picture.tsx';
import type { RefObject } from 'react';
import { useEffect, useRef, useState } from 'react';
import { clockAt, LENGTH_SECONDS, noticedUntil } from '../../scenes/evening.ts';
import { emptyStreet, streetDrawing } from '../../scenes/street-drawing.ts';
import { Findings } from './findings.tsx';
import { Labels, Street } from './street.tsx';
import { Timeline } from './timeline.tsx';
import { usePlayOnce } from './use-play-once.ts';

/** How the recording ends: what is shown until it can be gone through, and where no JavaScript runs. */
const still = (
  <Picture
    {...streetDrawing}
    priority="high"
    alt="A shop’s door seen by a camera: a parcel and a van are marked as alerts, staff are on the way"
  />
);

/**
 * A recorded evening at a shop's door, and what the system noticed: it plays once by itself, and can be gone through. Once
 * the street without anybody is there its people are drawn by the page.
 */
export function Recording() {
  const stage = useRef<HTMLDivElement>(null);
  const street = useStreet();
  const isReady = street === 'there';
  const { seconds, goTo } = usePosition(stage, isReady);
  return (
    <figure>
      <div className="border border-line bg-sunk">
        <Status seconds={seconds} />
        <div ref={stage} className="relative">
          {still}
          {isReady ? <Street src={emptyStreet.src} seconds={seconds} /> : null}
          {street === 'lost' ? null : <Labels seconds={seconds} />}
        </div>
        <div className="timeline relative min-h-11 noscript:hidden">
          {isReady ? <Timeline seconds={seconds} onChange={goTo} /> : null}
        </div>
      </div>
      <Findings seconds={seconds} onChoose={isReady ? goTo : undefined} />
    </figure>
  );
}

function Status({ seconds }: { seconds: number }) {
  const alerts = noticedUntil(seconds).filter(({ severity }) => severity === 'alert').length;
  return (
    <p className="flex items-center gap-2.5 px-2.5 py-2 font-mono text-seen-ink text-small">
      <span className={`size-2 rounded-full ${alerts > 0 ? 'bg-alert' : 'bg-seen'}`} />
      {`cam-04 · ${clockAt(seconds)} · ${alerts} ${alerts === 1 ? 'alert' : 'alerts'}`}
    </p>
  );
}

/** Load state of the street without anybody. Until it is there the still picture stays, which is of the same file. */
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

/** The shown time of the recording: its end, what is playing, or what the visitor goes to. */
function usePosition(stage: RefObject<Element | null>, isReady: boolean) {
  const [seconds, show] = useState(LENGTH_SECONDS);
  const stop = usePlayOnce(stage, isReady, show);
  function goTo(chosen: number) {
    stop();
    show(chosen);
  }
  return { seconds, goTo };
}
