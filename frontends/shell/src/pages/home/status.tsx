import { clockAt, LENGTH_SECONDS, minutes, noticedUntil } from '../../scenes/evening.ts';
import type { Shown } from './playback.ts';
import { played, playedUntil } from './playback.ts';

interface StatusProps {
  shown: Shown;
  /** The time that the text shows. */
  seconds: number;
}

export function Status({ shown, seconds }: StatusProps) {
  const isPlaying = shown === 'playing';
  return (
    <p className="flex items-center gap-2.5 px-2.5 py-2 font-mono text-seen-ink text-small">
      <span
        ref={isPlaying ? untilAlert : null}
        className={`size-2 rounded-full ${alertsUntil(seconds).length > 0 ? 'bg-alert' : 'bg-seen'}`}
      />
      <span>
        {'cam-04 · '}
        {isPlaying ? <PassingMinutes /> : null}
        <span className={isPlaying ? 'sr-only' : ''}>{wordsAt(seconds)}</span>
      </span>
    </p>
  );
}

function alertsUntil(seconds: number) {
  return noticedUntil(seconds).filter(({ severity }) => severity === 'alert');
}

function wordsAt(seconds: number): string {
  const { length } = alertsUntil(seconds);
  return `${clockAt(seconds)} · ${length} ${length === 1 ? 'alert' : 'alerts'}`;
}

const untilAlert = playedUntil(alertsUntil(LENGTH_SECONDS)[0]?.atSeconds ?? LENGTH_SECONDS, {
  backgroundColor: 'var(--seen)',
});
const passing = played(
  minutes.map((atSeconds, at) => ({
    offset: atSeconds / LENGTH_SECONDS,
    transform: `translateY(${(-100 * at) / minutes.length}%)`,
    easing: 'step-end',
  })),
);

/**
 * A column with a line per minute moves behind a window of one line. Assistive technology gets only the last
 * line.
 */
function PassingMinutes() {
  return (
    <span aria-hidden="true" className="inline-block h-lh overflow-hidden align-top print:hidden">
      <span ref={passing} className="block whitespace-pre">
        {minutes.map(wordsAt).join('\n')}
      </span>
    </span>
  );
}
