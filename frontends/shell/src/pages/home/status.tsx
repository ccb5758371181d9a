import { clockAt, LENGTH_SECONDS, minutes, noticedUntil } from '../../scenes/evening.ts';
import type { Shown } from './playback.ts';
import { played } from './playback.ts';

interface StatusProps {
  shown: Shown;
  /** The time of the recording that the words are of. */
  seconds: number;
}

/** What the camera says above its picture: its name, the time, and how many alerts there were. */
export function Status({ shown, seconds }: StatusProps) {
  const alerts = noticedUntil(seconds).filter(({ severity }) => severity === 'alert').length;
  return (
    <p className="flex items-center gap-2.5 px-2.5 py-2 font-mono text-seen-ink text-small">
      <span className={`size-2 rounded-full ${alerts > 0 ? 'bg-alert' : 'bg-seen'}`} />
      <span>
        {'cam-04 · '}
        {shown === 'playing' ? <PassingMinutes /> : clockAt(seconds)}
        {` · ${alerts} ${alerts === 1 ? 'alert' : 'alerts'}`}
      </span>
    </p>
  );
}

const passing = played(
  minutes.map((atSeconds, at) => ({
    offset: atSeconds / LENGTH_SECONDS,
    transform: `translateY(${(-100 * at) / minutes.length}%)`,
    easing: 'step-end',
  })),
);

/** The clock while the recording plays: a column of all minutes, of which one is to be seen. */
function PassingMinutes() {
  return (
    <span className="inline-block h-lh overflow-hidden align-top">
      <span ref={passing} className="block whitespace-pre">
        {minutes.map(clockAt).join('\n')}
      </span>
    </span>
  );
}
