import { sceneColours } from '@site/kit/drawing/materials.ts';
import { createElement } from 'react';
import { STREET } from '../../scenes/evening.ts';
import type { Sighting } from '../../scenes/sightings.ts';
import { sightingsAt } from '../../scenes/sightings.ts';

const [width, height] = STREET.picture;
/** Size of the labels, on the screen: at every width of the picture the same. */
const TYPE = 12;
/** Advance of a letter of the monospaced font. */
const LETTER = 7.2;
const PAD = 5;
const LABEL_HEIGHT = 17;
/** Between a label and its box. */
const GAP = 3;

interface StreetProps {
  /** Address of the street without anybody. */
  src: string;
  seconds: number;
}

/** The street at a time of the recording: who is there, and the corner brackets of what is found. It covers the still picture. */
export function Street({ src, seconds }: StreetProps) {
  return (
    <>
      <img src={src} alt="" className="absolute inset-0 size-full bg-sunk" />
      <svg
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
        className="absolute inset-0 size-full"
        fill="none"
        stroke={sceneColours.line}
        strokeLinejoin="round"
      >
        {sightingsAt(seconds).map(({ key, ...sighting }) => (
          <Figure key={key} {...sighting} />
        ))}
      </svg>
    </>
  );
}

function Figure({ transform, opacity, parts, label, brackets, severity }: Omit<Sighting, 'key'>) {
  return (
    <g opacity={opacity}>
      {createElement(
        'g',
        { transform },
        ...parts.map(([name, attributes]) => createElement(name, attributes)),
      )}
      {label ? <path d={brackets} stroke={sceneColours[severity]} strokeWidth="2.4" /> : null}
    </g>
  );
}

/** What the machine says of those who are there, in letters of one size however wide the picture is. */
export function Labels({ seconds }: { seconds: number }) {
  return (
    <svg
      aria-hidden="true"
      className="labels absolute inset-0 size-full font-mono"
      fontSize={TYPE}
      fontWeight="600"
    >
      {sightingsAt(seconds)
        .filter(({ label }) => label)
        .map(({ key, ...sighting }) => (
          <Label key={key} {...sighting} />
        ))}
    </svg>
  );
}

function Label({ box, label, labelPlace: { row, side }, severity }: Omit<Sighting, 'key'>) {
  const labelWidth = Math.ceil(label.length * LETTER) + 2 * PAD;
  const left = side === 'start' ? 0 : -labelWidth;
  const top = row === 'above' ? -(LABEL_HEIGHT + GAP) : GAP;
  return (
    <svg
      x={percent((side === 'start' ? box.left : box.left + box.width) / width)}
      y={percent((row === 'above' ? box.top : box.top + box.height) / height)}
      overflow="visible"
      aria-hidden="true"
    >
      <rect
        x={left}
        y={top}
        width={labelWidth}
        height={LABEL_HEIGHT}
        fill={sceneColours[severity]}
      />
      <text
        x={left + PAD}
        y={top + TYPE}
        fill={severity === 'alert' ? 'var(--on-alert)' : sceneColours.onSeen}
      >
        {label}
      </text>
    </svg>
  );
}

/** A part as SVG writes it, which needs no attribute of style. */
function percent(part: number): string {
  return `${Math.round(part * 1000) / 10}%`;
}
