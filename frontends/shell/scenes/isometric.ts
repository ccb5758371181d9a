/** A point of the world: x to the right and down, y to the left and down, z up, in unit cubes. */
export type Point = readonly [x: number, y: number, z?: number];

/** How a face is filled and drawn. Colours are the kit's custom properties, so that a scene follows the theme. */
export interface Ink {
  fill: string;
  stroke?: string;
  width?: number;
  opacity?: number;
}

/** The inks of a box: its top, its left and its right face. */
export interface Material {
  top: string;
  left: string;
  right: string;
}

const COS = Math.cos(Math.PI / 6);
const SIN = 0.5;

const mixed = (accent: string, part: number) =>
  `color-mix(in srgb, var(--${accent}) ${part}%, var(--face-t))`;
const all = (fill: string): Material => ({ top: fill, left: fill, right: fill });

/** What things are made of. */
export const materials = {
  plain: { top: 'var(--face-t)', left: 'var(--face-l)', right: 'var(--face-r)' },
  ware: all(mixed('seen', 34)),
  pale: all('var(--face-t)'),
  glass: all(mixed('stroke', 34)),
  warm: all(mixed('alert', 55)),
} as const satisfies Record<string, Material>;

/** A world of unit cubes seen from the south. Things are painted from the back to the front. */
export class Scene {
  private readonly things: { depth: number; svg: string }[] = [];
  private readonly unit: number;

  /** `unit` is the length of a unit cube's edge on the picture. */
  constructor(unit: number) {
    this.unit = unit;
  }

  /** Where a point of the world is on the picture. */
  at([x, y, z = 0]: Point): [number, number] {
    const { unit } = this;
    return [round((x - y) * COS * unit), round((x + y) * SIN * unit - z * unit)];
  }

  /** A flat shape. */
  shape(points: readonly Point[], ink: Ink, depth: number): void {
    const corners = points.map(point => this.at(point).join(',')).join(' ');
    this.add(depth, `<polygon points="${corners}"${attributes(ink)}/>`);
  }

  /** A flat rectangle on the floor. */
  slab(x: number, y: number, w: number, d: number, ink: Ink, depth: number): void {
    const corners: Point[] = [
      [x, y],
      [x + w, y],
      [x + w, y + d],
      [x, y + d],
    ];
    this.shape(corners, ink, depth);
  }

  /** A box that stands at a corner, with its width, depth and height. */
  box(
    [x, y, z = 0]: Point,
    [w, d, h]: readonly [number, number, number],
    material: Material = materials.plain,
  ): void {
    const depth = x + y + w + d + z * 0.01;
    const ink = (fill: string) => ({ fill, stroke: 'var(--stroke)' });
    this.shape(
      [
        [x, y + d, z],
        [x + w, y + d, z],
        [x + w, y + d, z + h],
        [x, y + d, z + h],
      ],
      ink(material.left),
      depth,
    );
    this.shape(
      [
        [x + w, y, z],
        [x + w, y + d, z],
        [x + w, y + d, z + h],
        [x + w, y, z + h],
      ],
      ink(material.right),
      depth,
    );
    this.shape(
      [
        [x, y, z + h],
        [x + w, y, z + h],
        [x + w, y + d, z + h],
        [x, y + d, z + h],
      ],
      ink(material.top),
      depth + 0.001,
    );
  }

  /** Lines on the floor, one per unit. */
  grid(w: number, d: number): void {
    const lines = [
      ...range(w).map(x => this.segment([x, 0], [x, d])),
      ...range(d).map(y => this.segment([0, y], [w, y])),
    ];
    this.add(-49, `<path d="${lines.join('')}" stroke="var(--line)" stroke-width=".7"/>`);
  }

  /** Someone who stands there. */
  person(point: Point, mood: 'calm' | 'suspicious' = 'calm'): void {
    const [x, y] = this.at(point);
    const fill = mood === 'calm' ? 'var(--face-t)' : mixed('alert', 45);
    this.add(
      point[0] + point[1] + 0.9,
      `<g transform="translate(${x} ${y}) scale(${round(this.unit / 34)})">` +
        '<ellipse rx="10" ry="5" fill="var(--stroke)" opacity=".22"/>' +
        `<g fill="${fill}" stroke="var(--stroke)" stroke-width="1.3">` +
        '<path d="M-6 0v-14a6 6 0 0 1 12 0v14a6 3 0 0 1-12 0z"/><circle cy="-27" r="5.4"/></g></g>',
    );
  }

  /** A camera and the cone that it sees. */
  camera(point: Point, target: Point): void {
    const [x, y] = this.at(point);
    const [tx, ty] = this.at(target);
    const cone = `${x},${y} ${round(tx - 74)},${round(ty - 6)} ${round(tx + 74)},${round(ty + 24)}`;
    this.add(-40, `<polygon points="${cone}" fill="var(--cone)"/>`);
    this.add(
      1000,
      `<g transform="translate(${x} ${y})"><rect x="-9" y="-6" width="18" height="11" rx="2" fill="var(--ink)"/>` +
        '<circle cx="5" r="2.6" fill="var(--seen)"/></g>',
    );
  }

  /** The drawing, to be shown by a `<use>` of its id `scene`. */
  toSvg(viewBox: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg"><symbol id="scene" viewBox="${viewBox}">` +
      `${this.toDrawing()}</symbol></svg>\n`
    );
  }

  /** What is drawn, without a frame. */
  toDrawing(): string {
    const painted = [...this.things].sort((a, b) => a.depth - b.depth).map(({ svg }) => svg);
    return `<g stroke-linejoin="round">${painted.join('')}</g>`;
  }

  private segment(from: Point, to: Point): string {
    return `M${this.at(from).join(' ')}L${this.at(to).join(' ')}`;
  }

  private add(depth: number, svg: string) {
    this.things.push({ depth, svg });
  }
}

function attributes({ fill, stroke, width, opacity }: Ink): string {
  return [
    ` fill="${fill}"`,
    stroke ? ` stroke="${stroke}"` : '',
    width ? ` stroke-width="${width}"` : '',
    opacity ? ` opacity="${opacity}"` : '',
  ].join('');
}

function range(to: number): number[] {
  return Array.from({ length: to + 1 }, (_, at) => at);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
