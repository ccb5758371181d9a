import { sceneColours } from '@site/kit/drawing/materials.ts';
import type { RefCallback } from 'react';
import { createElement, memo } from 'react';
import { LENGTH_SECONDS, STREET } from '../../scenes/evening.ts';
import type { Look, Sighting, Waypoint } from '../../scenes/sightings.ts';
import { allLooks, sightingsAt } from '../../scenes/sightings.ts';
import type { Shown } from './playback.ts';
import { played } from './playback.ts';

const [width, height] = STREET.picture;
/** Font size of the labels in pixels, the same at every picture width. */
const TYPE = 12;
/** Advance width of the font. */
const LETTER = 7.2;
const PAD = 5;
const LABEL_HEIGHT = 17;
const GAP = 3;

interface Drawn extends Sighting {
  move?: RefCallback<Element>;
}

const looks = allLooks();
const movingFigures = looks.map(look => movingAs(look, figureAt));
const movingLabels = looks.map(look => movingAs(look, labelAt));

function figureAt({ x, y, opacity }: Waypoint): Keyframe {
  return { transform: `translate(${x}px, ${y}px)`, opacity };
}

function labelAt({ x, y }: Waypoint): Keyframe {
  const transform = `translate(${(100 * x) / width}%, ${(100 * y) / height}%)`;
  return { transform, opacity: 1 };
}

/** Moves an actor during a look, and hides it before and after. */
function movingAs({ way, ...sighting }: Look, keyframeAt: (at: Waypoint) => Keyframe): Drawn {
  const shown = way.map(at => ({ ...keyframeAt(at), offset: at.atSeconds / LENGTH_SECONDS }));
  const before = { ...shown[0], offset: 0, opacity: 0, easing: 'step-end' };
  const gone = { ...shown.at(-1), opacity: 0 };
  const after = gone.offset === 1 ? [] : [gone, { ...gone, offset: 1 }];
  return { ...sighting, move: played([before, ...shown, ...after]) };
}

interface StreetProps {
  src: string;
  shown: Shown;
}

/** Covers the still picture. */
export const Street = memo(function Street({ src, shown }: StreetProps) {
  return (
    // Clipped to the still picture's size, so that the street does not replace it as largest paint (LCP).
    <div className={`absolute inset-0 overflow-hidden ${offPaper(shown)}`}>
      <img src={src} alt="" className="absolute inset-0 size-full bg-sunk" />
      <svg
        viewBox={`0 0 ${width} ${height}`}
        aria-hidden="true"
        className="absolute inset-0 size-full"
        fill="none"
        stroke={sceneColours.line}
        strokeLinejoin="round"
      >
        {(shown === 'playing' ? movingFigures : sightingsAt(shown)).map(({ key, ...drawn }) => (
          <Figure key={key} {...drawn} />
        ))}
      </svg>
    </div>
  );
});

function Figure({
  transform,
  opacity,
  parts,
  label,
  brackets,
  severity,
  move,
}: Omit<Drawn, 'key'>) {
  return (
    <g ref={move} opacity={opacity}>
      {createElement(
        'g',
        { transform },
        ...parts.map(([name, attributes]) => createElement(name, attributes)),
      )}
      {label ? <path d={brackets} stroke={sceneColours[severity]} strokeWidth="2.4" /> : null}
    </g>
  );
}

export const Labels = memo(function Labels({ shown }: { shown: Shown }) {
  return (
    <svg
      aria-hidden="true"
      className={`labels absolute inset-0 size-full font-mono ${offPaper(shown)}`}
      fontSize={TYPE}
      fontWeight="600"
    >
      {(shown === 'playing' ? movingLabels : sightingsAt(shown))
        .filter(({ label }) => label)
        .map(({ key, ...drawn }) => (
          <Label key={key} {...drawn} />
        ))}
    </svg>
  );
});

function Label({ box, label, labelPlace: { row, side }, severity, move }: Omit<Drawn, 'key'>) {
  const labelWidth = Math.ceil(label.length * LETTER) + 2 * PAD;
  const left = side === 'start' ? 0 : -labelWidth;
  const top = row === 'above' ? -(LABEL_HEIGHT + GAP) : GAP;
  const corner = {
    x: percent((side === 'start' ? box.left : box.left + box.width) / width),
    y: percent((row === 'above' ? box.top : box.top + box.height) / height),
  };
  return (
    <g ref={move}>
      <rect
        {...corner}
        transform={`translate(${left} ${top})`}
        width={labelWidth}
        height={LABEL_HEIGHT}
        fill={sceneColours[severity]}
      />
      <text
        {...corner}
        transform={`translate(${left + PAD} ${top + TYPE})`}
        fill={severity === 'alert' ? 'var(--on-alert)' : sceneColours.onSeen}
      >
        {label}
      </text>
    </g>
  );
}

/** During playback, a print shows the still picture instead. */
function offPaper(shown: Shown): string {
  return shown === 'playing' ? 'print:hidden' : '';
}

/** Percentage for an SVG attribute, because the Content Security Policy forbids `style` attributes. */
function percent(part: number): string {
  return `${Math.round(part * 1000) / 10}%`;
}
