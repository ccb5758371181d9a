/** A point of the world: x to the right and down, y to the left and down, z up, in unit cubes. */
export type Point = readonly [x: number, y: number, z?: number];
/** Width along x, depth along y, height. */
export type Size = readonly [w: number, d: number, h: number];

/** The inks of a box: its top, its left and its right face. */
export interface Material {
  top: string;
  left: string;
  right: string;
}

/** The part of the world that a thing fills. */
interface Solid {
  from: readonly [number, number, number];
  to: readonly [number, number, number];
  svg: string;
}

const COS = Math.cos(Math.PI / 6);
const SIN = 0.5;
const WIDTH = 800;
const HEIGHT = 450;
/** Advance of a letter, as a part of the size of type: what monospaced faces agree on. */
const LETTER = 0.6;
const TYPE = 16;

/**
 * An image knows nothing of the page's theme, so the pictures are what a monitor shows: dark on both. The
 * inks are those of the dark theme, with a lighter line.
 */
export const inks = {
  ground: '#101820',
  floor: '#15202b',
  path: '#0c131a',
  grid: '#22303c',
  line: '#8399ac',
  seen: '#ffb82e',
  alert: '#ff5a3c',
  onSeen: '#171006',
  lit: '#c99a3b',
  glass: '#34495c',
} as const;

/** What things are made of. */
export const materials = {
  plain: { top: '#2a3b4b', left: '#1c2936', right: '#141e28' },
  low: { top: '#1d2a37', left: '#17222d', right: '#111a23' },
  ware: { top: '#d59c35', left: '#a9792a', right: '#7c5a23' },
  pale: { top: '#b9c6d1', left: '#93a4b2', right: '#6d7f8f' },
  glass: { top: '#3d5468', left: '#31465a', right: '#26394a' },
  dark: { top: '#0f171f', left: '#0b1118', right: '#080d12' },
} as const satisfies Record<string, Material>;

/** How certain the machine is of what it found, and what that asks of people. */
export type Kind = keyof Pick<typeof inks, 'seen' | 'alert'>;

/** A world of unit cubes seen from the south, drawn in the hand of all our scenes. */
export class Scene {
  private readonly flat: string[] = [];
  private readonly solids: Solid[] = [];
  private readonly over: string[] = [];
  private readonly unit: number;
  private readonly origin: readonly [number, number];

  /** `unit` is the length of a unit cube's edge on the picture, `origin` where the world's corner is. */
  constructor(unit: number, origin: readonly [number, number]) {
    this.unit = unit;
    this.origin = origin;
  }

  /** The ground that everything stands on. */
  ground(w: number, d: number): void {
    this.slab([0, 0], [w, d], inks.floor, inks.grid);
    const lines = [
      ...range(w).map(x => this.segment([x, 0], [x, d])),
      ...range(d).map(y => this.segment([0, y], [w, y])),
    ];
    this.flat.push(`<path d="${lines.join('')}" stroke="${inks.grid}" stroke-width=".8"/>`);
  }

  /** A flat rectangle that lies below all things. */
  slab(
    [x, y, z = 0]: Point,
    [w, d]: readonly [number, number],
    fill: string,
    stroke = 'none',
  ): void {
    this.flat.push(this.face([x, y, z], [w, 0, 0], [0, d, 0], fill, ` stroke="${stroke}"`));
  }

  /** A wall behind all things: along x where it has a width, along y where it has a depth. */
  wall(point: Point, [w, d, h]: Size): void {
    const { left, right } = materials.plain;
    this.flat.push(this.face(point, [w, d, 0], [0, 0, h], w > 0 ? right : left));
  }

  /** Something flat on a wall. */
  onWall(point: Point, [w, d, h]: Size, fill: string): void {
    this.flat.push(this.face(point, [w, d, 0], [0, 0, h], fill));
  }

  /** A box, and what is drawn upon it. */
  box(
    [x, y, z = 0]: Point,
    [w, d, h]: Size,
    { top, left, right }: Material = materials.plain,
    upon = '',
  ): void {
    const faces = [
      this.face([x, y + d, z], [w, 0, 0], [0, 0, h], left),
      this.face([x + w, y, z], [0, d, 0], [0, 0, h], right),
      this.face([x, y, z + h], [w, 0, 0], [0, d, 0], top),
    ];
    this.solid([x, y, z], [w, d, h], faces.join('') + upon);
  }

  /** A roof with its ridge along x. */
  roof([x, y, z = 0]: Point, [w, d, h]: Size): void {
    const { top, left, right } = materials.plain;
    const slope = this.face([x, y + d, z], [w, 0, 0], [0, -d / 2, h], left);
    const gable = this.outline(
      [
        [x + w, y, z],
        [x + w, y + d, z],
        [x + w, y + d / 2, z + h],
      ],
      right,
    );
    const back = this.outline(
      [
        [x, y, z],
        [x + w, y, z],
        [x + w, y + d / 2, z + h],
        [x, y + d / 2, z + h],
      ],
      top,
    );
    this.solid([x, y, z], [w, d, h], back + slope + gable);
  }

  /** A parallelogram, to be drawn upon a box. */
  face(
    point: Point,
    along: readonly number[],
    up: readonly number[],
    fill: string,
    more = '',
  ): string {
    const [a1 = 0, a2 = 0, a3 = 0] = along;
    const [u1 = 0, u2 = 0, u3 = 0] = up;
    const [x, y, z = 0] = point;
    const second: Point = [x + a1, y + a2, z + a3];
    const third: Point = [x + a1 + u1, y + a2 + u2, z + a3 + u3];
    return this.outline([point, second, third, [x + u1, y + u2, z + u3]], fill, more);
  }

  /** A thin post. */
  post([x, y, z = 0]: Point, h: number): void {
    const path = this.segment([x, y, z], [x, y, z + h]);
    this.solid([x, y, z], [0.05, 0.05, h], `<path d="${path}" stroke-width="2.4"/>`);
  }

  /** A tree, round as an architect's. */
  tree([x, y]: Point): void {
    const [px, py] = this.at([x, y]);
    const size = this.unit * 0.5;
    const crown = `<circle cx="${px}" cy="${round(py - size * 2.4)}" r="${round(size)}" fill="${materials.plain.left}"/>`;
    this.solid(
      [x - 0.2, y - 0.2, 0],
      [0.4, 0.4, 1.6],
      `<path d="M${px} ${py}v-${round(size * 1.4)}"/>${crown}`,
    );
  }

  /** Someone who stands there, and what the machine says of them. */
  person([x, y, z = 0]: Point, label = '', kind: Kind = 'seen'): void {
    const [px, py] = this.at([x, y, z]);
    const fill = kind === 'alert' ? '#8a4035' : '#b9c6d1';
    const scale = round(this.unit / 31);
    this.solid(
      [x - 0.15, y - 0.15, z],
      [0.3, 0.3, 1.1],
      `<g transform="translate(${px} ${py})${scale === 1 ? '' : ` scale(${scale})`}">` +
        `<ellipse rx="10" ry="5" fill="#000" stroke="none" opacity=".35"/><g fill="${fill}" stroke="${inks.path}">` +
        '<path d="M-6 0v-14a6 6 0 0 1 12 0v14a6 3 0 0 1-12 0z"/><circle cy="-27" r="5.4"/></g></g>',
    );
    if (label) {
      this.detect([x, y, z], [30 * scale, 44 * scale], label, kind);
    }
  }

  /** A car that stands along x or y. */
  car([x, y]: Point, along: 'x' | 'y'): void {
    const [w, d] = along === 'x' ? [1.9, 0.9] : [0.9, 1.9];
    this.box([x, y, 0.12], [w, d, 0.36]);
    const cabin: Size = along === 'x' ? [1, 0.74, 0.3] : [0.74, 1, 0.3];
    this.box([x + (w - cabin[0]) / 2, y + (d - cabin[1]) / 2, 0.48], cabin, materials.glass);
  }

  /** A camera, and the part of the ground that it sees. */
  camera(point: Point, target: Point): void {
    const [x, y] = this.at(point);
    const [tx, ty] = this.at(target);
    this.flat.push(
      `<path d="M${x} ${y}L${round(tx - 88)} ${round(ty - 6)} ${round(tx + 88)} ${round(ty + 26)}z" fill="${inks.seen}" stroke="none" opacity=".12"/>`,
    );
    this.over.push(
      `<g transform="translate(${x} ${y})" stroke="none"><rect x="-10" y="-7" width="20" height="12" rx="2" fill="#eef2f5"/><circle cx="5" cy="-1" r="3" fill="${inks.seen}"/></g>`,
    );
  }

  /** Corner brackets around something that stands at a point, with what the machine takes it for. */
  detect(
    point: Point,
    [w, h]: readonly [number, number],
    label: string,
    kind: Kind = 'seen',
  ): void {
    const [px, py] = this.at(point);
    const [x, y] = [round(px - w / 2), round(py - h + 6)];
    const corner = Math.min(9, w / 3);
    const [iw, ih] = [round(w - 2 * corner), round(h - 2 * corner)];
    const c = round(corner);
    const corners = `M${x} ${round(y + corner)}v-${c}h${c}m${iw} 0h${c}v${c}m0 ${ih}v${c}h-${c}m-${iw} 0h-${c}v-${c}`;
    this.over.push(`<path d="${corners}" stroke="${inks[kind]}" stroke-width="2.4"/>`);
    const text = round(label.length * TYPE * LETTER);
    this.over.push(
      `<g transform="translate(${round(x - 1)} ${round(y - 24)})" stroke="none"><rect width="${round(text + 12)}" height="21" fill="${inks[kind]}"/>` +
        `<text x="6" y="15.5" fill="${inks.onSeen}" textLength="${text}">${label}</text></g>`,
    );
  }

  /** The picture as a file. */
  toSvg(): string {
    const style = `font-family="Geist Mono,ui-monospace,Menlo,Consolas,monospace" font-size="${TYPE}" font-weight="600"`;
    const solids = inOrder(this.solids).map(({ svg }) => svg);
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">` +
      `<path fill="${inks.ground}" d="M0 0h${WIDTH}v${HEIGHT}H0z"/>` +
      `<g fill="none" stroke="${inks.line}" stroke-linejoin="round" ${style}>` +
      `${[...this.flat, ...solids, ...this.over].join('')}</g></svg>\n`
    );
  }

  private solid([x, y, z]: readonly [number, number, number], [w, d, h]: Size, svg: string) {
    this.solids.push({ from: [x, y, z], to: [x + w, y + d, z + h], svg });
  }

  private at([x, y, z = 0]: Point): [number, number] {
    const [left, top] = this.origin;
    return [
      round(left + (x - y) * COS * this.unit),
      round(top + (x + y) * SIN * this.unit - z * this.unit),
    ];
  }

  private outline(points: readonly Point[], fill: string, more = ''): string {
    const [first = [0, 0], ...rest] = points.map(point => this.at(point));
    let last = first;
    const steps = rest.map(([x, y]) => {
      const step = `l${round(x - last[0])} ${round(y - last[1])}`;
      last = [x, y];
      return step;
    });
    return `<path fill="${fill}"${more} d="M${first[0]} ${first[1]}${steps.join('')}z"/>`;
  }

  private segment(from: Point, to: Point): string {
    return `M${this.at(from).join(' ')}L${this.at(to).join(' ')}`;
  }
}

/** Things behind others first. Sorting by distance alone fails where a long thing stands beside a short one. */
function inOrder(solids: readonly Solid[]): Solid[] {
  const done = new Set<Solid>();
  const visit = (solid: Solid) => {
    if (!done.has(solid)) {
      done.add(solid);
      solids.filter(other => isBehind(other, solid)).forEach(visit);
      painted.push(solid);
    }
  };
  const painted: Solid[] = [];
  solids.forEach(visit);
  return painted;
}

function isBehind(a: Solid, b: Solid): boolean {
  const before = (one: Solid, other: Solid) =>
    one.to.some((end, axis) => end <= (other.from[axis] ?? Number.NEGATIVE_INFINITY) + 0.001);
  return before(a, b) && !before(b, a);
}

function range(to: number): number[] {
  return Array.from({ length: to + 1 }, (_, at) => at);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
