import { round } from './round.ts';

/** Point of the world, in unit cubes. In the picture x goes right and down, y left and down, z up. */
export type Point = readonly [x: number, y: number, z?: number];
/** Width along x, depth along y, height. */
export type Size = readonly [w: number, d: number, h: number];
export type Pixel = readonly [x: number, y: number];
/** A box of the world: its corner nearest to the origin, and its size. */
export type Block = readonly [at: Point, size: Size];

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

/**
 * Cosine and sine of 30°, the slope of both ground axes. The cosine is written out because its last digit may
 * differ between engines, and hydration compares prerendered coordinates with the browser's.
 */
export const COS = 0.8660254037844387;
export const SIN = 0.5;
const MARGIN = 16;
/** Scale (pixels per unit) at which the sizes of detections are given. */
const DETECTION_UNIT = 34;

/** Isometric projection: the pixels per unit, and the pixel of a point. */
export interface Projection {
  unit: number;
  at: (point: Point) => [x: number, y: number];
}

export function projectionOf([w, d, h]: Size, [width, height]: Pixel): Projection {
  const unit = Math.min(
    (width - 2 * MARGIN) / ((w + d) * COS),
    (height - 2 * MARGIN) / ((w + d) * SIN + h),
  );
  const used = [(w + d) * COS * unit, ((w + d) * SIN + h) * unit] as const;
  const left = (width - used[0]) / 2 + d * COS * unit;
  const top = (height - used[1]) / 2 + h * unit;
  return {
    unit,
    at: ([x, y, z = 0]) => [
      round(left + (x - y) * COS * unit),
      round(top + (x + y) * SIN * unit - z * unit),
    ],
  };
}

export function outlineOf({ at }: Projection, points: readonly Point[]): string {
  const [first = [0, 0], ...rest] = points.map(at);
  let last = first;
  const steps = rest.map(([x, y]) => {
    const step = `l${round(x - last[0])} ${round(y - last[1])}`;
    last = [x, y];
    return step;
  });
  return `M${first[0]} ${first[1]}${steps.join('')}z`;
}

/** SVG path of a parallelogram, from a corner and its two sides. */
export function faceOf(
  projection: Projection,
  [x, y, z = 0]: Point,
  [a1, a2, a3]: Size,
  [u1, u2, u3]: Size,
): string {
  return outlineOf(projection, [
    [x, y, z],
    [x + a1, y + a2, z + a3],
    [x + a1 + u1, y + a2 + u2, z + a3 + u3],
    [x + u1, y + u2, z + u3],
  ]);
}

export function facesOf(projection: Projection, [[x, y, z = 0], [w, d, h]]: Block) {
  return {
    left: faceOf(projection, [x, y + d, z], [w, 0, 0], [0, 0, h]),
    right: faceOf(projection, [x + w, y, z], [0, d, 0], [0, 0, h]),
    top: faceOf(projection, [x, y, z + h], [w, 0, 0], [0, d, 0]),
  };
}

/** Bounding box of blocks in the picture, with `spare` pixels around it. */
export function boundsOf({ at }: Projection, blocks: readonly Block[], spare: number): Rect {
  const left = blocks.map(([[x, y], [, d]]) => at([x, y + d])[0]);
  const right = blocks.map(([[x, y], [w]]) => at([x + w, y])[0]);
  const top = blocks.map(([[x, y, z = 0], [, , h]]) => at([x, y, z + h])[1]);
  const bottom = blocks.map(([[x, y, z = 0], [w, d]]) => at([x + w, y + d, z])[1]);
  const [x, y] = [Math.min(...left) - spare, Math.min(...top) - spare];
  return {
    left: round(x),
    top: round(y),
    width: round(Math.max(...right) + spare - x),
    height: round(Math.max(...bottom) + spare - y),
  };
}

/** Bounding box of an object that stands at a pixel. The object's size is at the scale `DETECTION_UNIT`. */
export function boxAround({ unit }: Projection, [x, y]: Pixel, [w, h]: Pixel): Rect {
  const scale = unit / DETECTION_UNIT;
  const [width, height] = [w * scale, h * scale];
  return { left: round(x - width / 2), top: round(y - height + 6 * scale), width, height };
}

/** SVG path of corner brackets. */
export function bracketsOf({ left, top, width, height }: Rect, arm: number): string {
  const [iw, ih] = [round(width - 2 * arm), round(height - 2 * arm)];
  const c = round(arm);
  return `M${left} ${round(top + arm)}v-${c}h${c}m${iw} 0h${c}v${c}m0 ${ih}v${c}h-${c}m-${iw} 0h-${c}v-${c}`;
}

export function bracketArm({ unit }: Projection, { width }: Rect): number {
  return Math.min((9 * unit) / DETECTION_UNIT, width / 3);
}

/** Size of a person's bounding box at the scale `DETECTION_UNIT`. */
export const PERSON_BOX: Pixel = [33, 48];

/** Shapes of a person, relative to the feet, at 31 pixels per unit. */
export const PERSON = {
  unit: 31,
  body: 'M-6 0v-14a6 6 0 0 1 12 0v14a6 3 0 0 1-12 0z',
  head: { y: -27, radius: 5.4 },
  shadow: [10, 5],
} as const;

/** Blocks of a car or van along x or y: the body, and on it a cabin of height `h`. */
export function vehicleBlocks([x, y]: Point, along: 'x' | 'y', h: number): [Block, Block] {
  const [w, d] = along === 'x' ? [1.9, 0.9] : [0.9, 1.9];
  const cabin: Size = along === 'x' ? [1, 0.74, h] : [0.74, 1, h];
  return [
    [
      [x, y, 0.12],
      [w, d, 0.36],
    ],
    [[x + (w - cabin[0]) / 2, y + (d - cabin[1]) / 2, 0.48], cabin],
  ];
}
