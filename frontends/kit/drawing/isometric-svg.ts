import type { Solid } from './depth-sort.ts';
import { depthSorted } from './depth-sort.ts';
import { Detections } from './detections.ts';
import type { Material } from './materials.ts';
import { sceneColours } from './materials.ts';
import { palettes } from './palettes.ts';
import { round } from './round.ts';
import { StyleRules } from './style-rules.ts';

/** A point of the world: x to the right and down, y to the left and down, z up, in unit cubes. */
export type Point = readonly [x: number, y: number, z?: number];
/** Width along x, depth along y, height. */
export type Size = readonly [w: number, d: number, h: number];

/** Of the angle by which both axes of the ground rise. */
export const COS = Math.cos(Math.PI / 6);
export const SIN = 0.5;
const MOTION =
  '.drive{transform:translate(calc(var(--x)*.6),calc(var(--y)*.6))}' +
  '@media (prefers-reduced-motion:no-preference){' +
  '.lock{animation:lock .7s cubic-bezier(.2,.8,.2,1) backwards;transform-box:fill-box;transform-origin:center}' +
  '@keyframes lock{from{opacity:0;transform:scale(1.35)}}' +
  '.walk{animation:walk ease-in-out infinite alternate}' +
  '@keyframes walk{0%,12%{transform:none}88%,to{transform:translate(var(--x),var(--y))}}' +
  '.drive{animation:drive linear infinite}' +
  '@keyframes drive{0%{opacity:0;transform:none}6%,94%{opacity:1}to{opacity:0;transform:translate(var(--x),var(--y))}}}';

/** Isometric projection of a world of unit cubes: where its points are, its faces, and the SVG file that they make. */
export class IsometricSvg {
  protected readonly flat: string[] = [];
  protected readonly solids: Solid[] = [];
  protected readonly over: string[] = [];
  protected readonly world: Size;
  protected readonly picture: readonly [number, number];
  protected readonly styles = new StyleRules();
  protected readonly detections: Detections;
  protected readonly unit: number;
  protected readonly origin: readonly [number, number];

  constructor(world: Size, picture: readonly [number, number] = [800, 520], type = 12) {
    const [w, d, h] = world;
    const [width, height] = picture;
    const margin = 16;
    this.world = world;
    this.picture = picture;
    this.detections = new Detections(picture, type, this.styles);
    this.unit = Math.min(
      (width - 2 * margin) / ((w + d) * COS),
      (height - 2 * margin) / ((w + d) * SIN + h),
    );
    const used = [(w + d) * COS * this.unit, ((w + d) * SIN + h) * this.unit] as const;
    this.origin = [
      (width - used[0]) / 2 + d * COS * this.unit,
      (height - used[1]) / 2 + h * this.unit,
    ];
  }

  /** A flat rectangle that lies below all things. */
  slab(point: Point, [w, d]: readonly [number, number], fill: string, stroke = 'none'): void {
    this.flat.push(this.face(point, [w, 0, 0], [0, d, 0], fill, ` stroke="${stroke}"`));
  }

  /** The three visible faces of a box. */
  block([x, y, z = 0]: Point, [w, d, h]: Size, { top, left, right }: Material): string {
    return [
      this.face([x, y + d, z], [w, 0, 0], [0, 0, h], left),
      this.face([x + w, y, z], [0, d, 0], [0, 0, h], right),
      this.face([x, y, z + h], [w, 0, 0], [0, d, 0], top),
    ].join('');
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

  /** The picture as a file. */
  toSvg(): string {
    const [w, h] = this.picture;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}">` +
      `<style>${palettes}${MOTION}${this.styles.toCss()}${this.detections.rules()}</style>${this.detections.views()}${this.toDrawing()}</svg>\n`
    );
  }

  /** What is drawn, without a frame and without colours of its own. */
  toDrawing(): string {
    const style = `font-family="Geist Mono,ui-monospace,Menlo,Consolas,monospace" font-size="${this.detections.type}" font-weight="600"`;
    const solids = depthSorted(this.solids).map(({ svg }) => svg);
    return (
      `<g fill="none" stroke="${sceneColours.line}" stroke-linejoin="round" ${style}>` +
      `${[...this.flat, ...solids, ...this.over].join('')}${this.detections.toDrawing()}</g>`
    );
  }

  /** Where a point of the world is on the picture. */
  at([x, y, z = 0]: Point): [number, number] {
    const [left, top] = this.origin;
    return [
      round(left + (x - y) * COS * this.unit),
      round(top + (x + y) * SIN * this.unit - z * this.unit),
    ];
  }

  protected shadow([x, y, z = 0]: Point, [w, d, h]: Size) {
    if (z === 0) {
      const length = Math.min(0.35 * h, 0.9, this.world[0] - x - w);
      const ink = ' stroke="none" opacity=".13"';
      if (length > 0.02) {
        this.flat.push(this.face([x + w, y, 0], [length, 0, 0], [0, d, 0], sceneColours.line, ink));
      }
    }
  }

  protected solid([x, y, z = 0]: Point, [w, d, h]: Size, svg: string) {
    this.solids.push({ from: [x, y, z], to: [x + w, y + d, z + h], svg });
  }

  protected outline(points: readonly Point[], fill: string, more = ''): string {
    const [first = [0, 0], ...rest] = points.map(point => this.at(point));
    let last = first;
    const steps = rest.map(([x, y]) => {
      const step = `l${round(x - last[0])} ${round(y - last[1])}`;
      last = [x, y];
      return step;
    });
    return `<path fill="${fill}"${more} d="M${first[0]} ${first[1]}${steps.join('')}z"/>`;
  }

  protected segment(from: Point, to: Point): string {
    return `M${this.at(from).join(' ')}L${this.at(to).join(' ')}`;
  }
}
