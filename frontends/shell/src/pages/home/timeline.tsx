import { sceneColours } from '@site/kit/drawing/materials.ts';
import { memo } from 'react';
import { clockAt, findings, LENGTH_SECONDS, noticedUntil } from '../../scenes/evening.ts';
import type { Shown } from './playback.ts';
import { played } from './playback.ts';

const STEP_SECONDS = 0.03;

interface TimelineProps {
  shown: Shown;
  /** The time that the slider's text states. */
  seconds: number;
  onChange: (seconds: number) => void;
  /** Moves the slider to the current playback time, so that an arrow key continues from there. */
  onKeyDown: () => void;
}

/** A native slider, transparent over a drawn line. */
export function Timeline({ shown, seconds, onChange, onKeyDown }: TimelineProps) {
  const noticed = noticedUntil(seconds).at(-1);
  return (
    <div className="px-2.5">
      <Line shown={shown} />
      <input
        type="range"
        aria-label="Time of the recording"
        aria-valuetext={[clockAt(seconds), noticed?.words].filter(Boolean).join(', ')}
        min={0}
        max={LENGTH_SECONDS}
        step={STEP_SECONDS}
        value={seconds}
        onChange={({ target }) => onChange(target.valueAsNumber)}
        onKeyDown={onKeyDown}
        className="absolute inset-0 size-full cursor-pointer"
      />
    </div>
  );
}

const growing = played([{ transform: 'scaleX(0)' }, { transform: 'scaleX(1)' }]);
const following = played([{ transform: 'translateX(0%)' }, { transform: 'translateX(100%)' }]);

const Line = memo(function Line({ shown }: { shown: Shown }) {
  const isPlaying = shown === 'playing';
  return (
    <svg aria-hidden="true" width="100%" height="44" className="overflow-visible">
      <line x2="100%" y1="50%" y2="50%" stroke="var(--field-line)" />
      <g ref={isPlaying ? growing : null}>
        <line
          x2={isPlaying ? '100%' : percent(shown)}
          y1="50%"
          y2="50%"
          stroke="var(--seen-ink)"
          strokeWidth="3"
        />
      </g>
      {findings.map(({ atSeconds, severity }) => (
        <circle
          key={atSeconds}
          cx={percent(atSeconds)}
          cy="50%"
          r="5"
          fill={sceneColours[severity]}
        />
      ))}
      <g ref={isPlaying ? following : null}>
        <rect
          x={isPlaying ? 0 : percent(shown)}
          y="50%"
          width="6"
          height="22"
          transform="translate(-3 -11)"
          fill="var(--ink)"
        />
      </g>
    </svg>
  );
});

function percent(seconds: number): string {
  return `${(100 * seconds) / LENGTH_SECONDS}%`;
}
