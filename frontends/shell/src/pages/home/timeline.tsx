import { sceneColours } from '@site/kit/drawing/materials.ts';
import { clockAt, findings, LENGTH_SECONDS, noticedUntil } from '../../scenes/evening.ts';

/** What a press of an arrow key moves. */
const STEP_SECONDS = 0.03;

interface TimelineProps {
  seconds: number;
  onChange: (seconds: number) => void;
}

/** Goes through the recording: the browser's own slider, unseen over a line with what was noticed. */
export function Timeline({ seconds, onChange }: TimelineProps) {
  const noticed = noticedUntil(seconds).at(-1);
  const at = percent(seconds);
  return (
    <div className="px-2.5">
      <svg aria-hidden="true" width="100%" height="44" className="overflow-visible">
        <line x2="100%" y1="50%" y2="50%" stroke="var(--field-line)" />
        <line x2={at} y1="50%" y2="50%" stroke="var(--seen-ink)" strokeWidth="3" />
        {findings.map(({ atSeconds, severity }) => (
          <circle
            key={atSeconds}
            cx={percent(atSeconds)}
            cy="50%"
            r="5"
            fill={sceneColours[severity]}
          />
        ))}
        <rect
          x={at}
          y="50%"
          width="6"
          height="22"
          transform="translate(-3 -11)"
          fill="var(--ink)"
        />
      </svg>
      <input
        type="range"
        aria-label="Time of the recording"
        aria-valuetext={[clockAt(seconds), noticed?.words].filter(Boolean).join(', ')}
        min={0}
        max={LENGTH_SECONDS}
        step={STEP_SECONDS}
        value={seconds}
        onChange={({ target }) => onChange(target.valueAsNumber)}
        className="absolute inset-0 size-full cursor-pointer"
      />
    </div>
  );
}

function percent(seconds: number): string {
  return `${(100 * seconds) / LENGTH_SECONDS}%`;
}
