import { memo } from 'react';
import { clockAt, findings } from '../../scenes/evening.ts';
import { playedUntil } from './playback.ts';

interface FindingsProps {
  /** How many of them the system had noticed by the shown time of the recording. */
  noticed: number;
  /** Whether the recording plays: then each is marked when it is noticed. */
  isPlaying: boolean;
  /** Goes to where something was noticed; without it the recording cannot be gone through. */
  onChoose: ((seconds: number) => void) | undefined;
}

/** What the system noticed; what it had noticed by the shown time is marked. */
export const Findings = memo(function Findings({ noticed, isPlaying, onChoose }: FindingsProps) {
  return (
    <ol aria-label="What the system noticed" className="mt-4 grid gap-3 sm:grid-cols-2">
      {findings.map(({ atSeconds, severity, words }, at) => {
        const isNoticed = at < noticed;
        const content = (
          <>
            <time
              ref={isPlaying ? unnoticed[at]?.time : null}
              className={`font-mono ${isNoticed ? INK[severity] : ''}`}
            >
              {clockAt(atSeconds)}
            </time>
            {words}
          </>
        );
        return (
          <li
            key={words}
            ref={isPlaying ? unnoticed[at]?.row : null}
            aria-current={at === noticed - 1 ? 'time' : undefined}
            className={`border-l-4 ${isNoticed ? BORDER[severity] : 'border-line text-ink-2'}`}
          >
            {onChoose ? (
              <button
                type="button"
                onClick={() => onChoose(atSeconds)}
                className={`w-full cursor-pointer text-left ${ROW}`}
              >
                {content}
              </button>
            ) : (
              <span className={ROW}>{content}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
});

const unnoticed = findings.map(({ atSeconds }) => ({
  row: playedUntil(atSeconds, { color: 'var(--ink-2)', borderLeftColor: 'var(--line)' }),
  time: playedUntil(atSeconds, { color: 'var(--ink-2)' }),
}));

const ROW = 'flex min-h-11 items-center gap-3 px-2.5 text-small';
const INK = { seen: 'text-seen-ink', alert: 'text-alert-ink' } as const;
const BORDER = { seen: 'border-seen', alert: 'border-alert' } as const;
