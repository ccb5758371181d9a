import { memo } from 'react';
import { clockAt, findings } from '../../scenes/evening.ts';
import { playedUntil } from './playback.ts';

interface FindingsProps {
  /** Number of findings until the shown time. */
  noticed: number;
  isPlaying: boolean;
  /** Without it, the list has no buttons. */
  onChoose: ((seconds: number) => void) | undefined;
}

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
