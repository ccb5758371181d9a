import type { Severity } from '@site/kit/drawing/detections.ts';
import type { Block, Point, Rect } from '@site/kit/drawing/isometric.ts';
import {
  boundsOf,
  boxAround,
  bracketArm,
  bracketsOf,
  faceOf,
  facesOf,
  PERSON,
  PERSON_BOX,
  projectionOf,
} from '@site/kit/drawing/isometric.ts';
import type { Material } from '@site/kit/drawing/materials.ts';
import { materials, sceneColours } from '@site/kit/drawing/materials.ts';
import { round } from '@site/kit/drawing/round.ts';
import { detectionOf, placeOf } from './actors.ts';
import type { EveningActor } from './evening.ts';
import { actors, LENGTH_SECONDS, STREET } from './evening.ts';

/** Element name and attributes, limited to attributes that SVG and React spell alike. */
export type Part = readonly [
  name: 'path' | 'ellipse' | 'circle',
  attributes: Readonly<Record<string, string | number>>,
];

export interface Sighting {
  key: string;
  transform: string;
  opacity: number;
  parts: readonly Part[];
  /** Box and brackets show only with a label. */
  box: Rect;
  brackets: string;
  label: string;
  severity: Severity;
  labelPlace: EveningActor['labelPlace'];
}

/** A period in which an actor looks the same, with its first frame and its path. */
export interface Look extends Sighting {
  way: readonly Waypoint[];
}

/** Offset from the start of a look, in pixels. Movement is linear between waypoints. */
export interface Waypoint {
  atSeconds: number;
  x: number;
  y: number;
  opacity: number;
}

const FADE_SECONDS = 0.1;
/** Padding of an actor's box. */
const SPARE = 4;
const ORIGIN: Point = [0, 0];

const street = projectionOf(STREET.world, STREET.picture);
const [originX, originY] = street.at(ORIGIN);

/** From back to front. */
export function sightingsAt(seconds: number): Sighting[] {
  return actors.flatMap((actor, at) => {
    const opacity = opacityOf(actor, seconds);
    return opacity > 0 ? [sightingOf(actor, `${at}`, seconds, opacity)] : [];
  });
}

/** From back to front. */
export function allLooks(): Look[] {
  return actors.flatMap((actor, at) => {
    const { foundAtSeconds, alarm, path } = actor;
    const begins = [path[0]?.atSeconds ?? 0, foundAtSeconds, ...(alarm ? [alarm.fromSeconds] : [])];
    return begins.map((from, look) => {
      const to = begins[look + 1] ?? path.at(-1)?.atSeconds ?? LENGTH_SECONDS;
      return { ...sightingOf(actor, `${at}.${look}`, from, 1), way: wayOf(actor, from, to) };
    });
  });
}

function wayOf(actor: EveningActor, from: number, to: number): Waypoint[] {
  const steps = actor.path.map(({ atSeconds }) => atSeconds);
  const [first = from, last = to] = [steps[0], steps.at(-1)];
  const turns = [...steps, first + FADE_SECONDS, last - FADE_SECONDS];
  const [left, top] = street.at(placeOf(actor, from));
  return [from, ...turns.filter(time => time > from && time < to).sort((a, b) => a - b), to].map(
    atSeconds => {
      const [x, y] = street.at(placeOf(actor, atSeconds));
      const opacity = opacityOf(actor, atSeconds);
      return { atSeconds, x: round(x - left), y: round(y - top), opacity };
    },
  );
}

function sightingOf(actor: EveningActor, key: string, seconds: number, opacity: number): Sighting {
  const { shape, labelPlace } = actor;
  const place = placeOf(actor, seconds);
  const [x, y] = street.at(place);
  const { label, severity } = detectionOf(actor, seconds);
  const box =
    shape === 'person'
      ? boxAround(street, [x, y], PERSON_BOX)
      : boundsOf(street, blocksOf(shape, place), SPARE);
  const transform =
    shape === 'person'
      ? `translate(${x} ${y})scale(${round(street.unit / PERSON.unit)})`
      : `translate(${round(x - originX)} ${round(y - originY)})`;
  const brackets = bracketsOf(box, bracketArm(street, box));
  const parts = PARTS[shape][severity];
  return { key, transform, opacity, parts, box, brackets, label, severity, labelPlace };
}

/** Actors that are present at the end do not fade out. */
function opacityOf({ path }: EveningActor, seconds: number): number {
  const from = path[0]?.atSeconds ?? 0;
  const to = path.at(-1)?.atSeconds ?? 0;
  const going = to < LENGTH_SECONDS ? to - seconds : FADE_SECONDS;
  return round(Math.min(1, (seconds - from) / FADE_SECONDS, going / FADE_SECONDS));
}

function blocksOf(shape: 'van' | 'parcel', [x, y]: Point): readonly Block[] {
  return shape === 'van'
    ? [
        [
          [x, y, 0.12],
          [1.9, 0.9, 0.38],
        ],
        [
          [x, y + 0.04, 0.5],
          [1.35, 0.82, 0.5],
        ],
      ]
    : [
        [
          [x, y],
          [0.45, 0.36, 0.34],
        ],
      ];
}

function solid(shape: 'van' | 'parcel', material: Material): Part[] {
  return blocksOf(shape, ORIGIN).flatMap(block => {
    const faces = facesOf(street, block);
    return (['left', 'right', 'top'] as const).map(
      face => ['path', { d: faces[face], fill: material[face] }] as const,
    );
  });
}

function van(material: Material): Part[] {
  const windscreen = faceOf(street, [1.35, 0.12, 0.56], [0, 0.66, 0], [0, 0, 0.36]);
  return [...solid('van', material), ['path', { d: windscreen, fill: sceneColours.glass }]];
}

function person(fill: string): Part[] {
  const [rx, ry] = PERSON.shadow;
  const { y: cy, radius: r } = PERSON.head;
  return [
    ['ellipse', { rx, ry, fill: sceneColours.line, stroke: 'none', opacity: 0.22 }],
    ['path', { d: PERSON.body, fill }],
    ['circle', { cy, r, fill }],
  ];
}

const PARTS: Readonly<Record<EveningActor['shape'], Readonly<Record<Severity, readonly Part[]>>>> =
  {
    person: { seen: person('var(--figure)'), alert: person(sceneColours.alert) },
    van: { seen: van(materials.plain), alert: van(materials.warm) },
    parcel: { seen: solid('parcel', materials.ware), alert: solid('parcel', materials.warm) },
  };
