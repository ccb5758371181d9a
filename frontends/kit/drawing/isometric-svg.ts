import type { Solid } from './depth-sort.ts';
import { depthSorted } from './depth-sort.ts';
import { Detections } from './detections.ts';
import type { Pixel, Point, Projection, Size } from './isometric.ts';
import { faceOf, facesOf, outlineOf, projectionOf } from './isometric.ts';
import type { Material } from './materials.ts';
import { sceneColours } from './materials.ts';
import { palettes } from './palettes.ts';
import { StyleRules } from './style-rules.ts';

const MOTION =
  '.drive{transform:translate(calc(var(--x)*.6),calc(var(--y)*.6))}' +
  '@media (prefers-reduced-motion:no-preference){' +
  '.lock{animation:lock .7s cubic-bezier(.2,.8,.2,1) backwards;transform-box:fill-box;transform-origin:center}' +
  '@keyframes lock{from{opacity:0;transform:scale(1.35)}}' +
  '.walk{animation:walk ease-in-out infinite alternate}' +
  '@keyframes walk{0%,12%{transform:none}88%,to{transform:translate(var(--x),var(--y))}}' +
  '.drive{animation:drive linear infinite}' +
  '@keyframes drive{0%{opacity:0;transform:none}6%,94%{opacity:1}to{opacity:0;transform:translate(var(--x),var(--y))}}}';

/** SVG drawing of a world of unit cubes in isometric projection. */
export class IsometricSvg {
  protected readonly flat: string[] = [];
  protected readonly solids: Solid[] = [];
  protected readonly over: string[] = [];
  protected readonly world: Size;
  protected readonly picture: Pixel;
  protected readonly styles = new StyleRules();
  protected readonly detections: Detections;
  protected readonly projection: Projection;
  private hasActors = false;

  constructor(world: Size, picture: Pixel = [800, 520], type = 12) {
    this.world = world;
    this.picture = picture;
    this.detections = new Detections(picture, type, this.styles);
    this.projection = projectionOf(world, picture);
  }

  /** Flat rectangle below all objects. */
  slab(point: Point, [w, d]: readonly [number, number], fill: string, stroke = 'none'): void {
    this.flat.push(this.face(point, [w, 0, 0], [0, d, 0], fill, ` stroke="${stroke}"`));
  }

  block(point: Point, size: Size, material: Material): string {
    const faces = facesOf(this.projection, [point, size]);
    return (['left', 'right', 'top'] as const)
      .map(face => pathOf(faces[face], material[face]))
      .join('');
  }

  /** Parallelogram that two vectors span, such as a window on a wall. */
  face(point: Point, along: Size, up: Size, fill: string, more = ''): string {
    return pathOf(faceOf(this.projection, point, along, up), fill, more);
  }

  /** Draws above everything else. The file's fragment `#empty` shows the picture without actors. */
  actors(svg: string): void {
    this.hasActors = true;
    this.over.push(`<g class="actors">${svg}</g>`);
  }

  /** The SVG file. `legible` removes the labels where the picture is too small to read them. */
  toSvg(labels: 'always' | 'legible' = 'always'): string {
    const [w, h] = this.picture;
    const empty = this.hasActors ? `<view id="empty" viewBox="0 0 ${w} ${h}"/>` : '';
    const rules = this.hasActors ? '#empty:target~g .actors{display:none}' : '';
    const legibility = labels === 'legible' ? this.detections.legibility() : '';
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}">` +
      `<style>${palettes}${MOTION}${this.styles.toCss()}${this.detections.rules()}${legibility}${rules}</style>${this.detections.views()}${empty}${this.toDrawing()}</svg>\n`
    );
  }

  /** The drawing without the `svg` element and its styles. */
  toDrawing(): string {
    const style = `font-family="Geist Mono,ui-monospace,Menlo,Consolas,monospace" font-size="${this.detections.type}" font-weight="600"`;
    const solids = depthSorted(this.solids).map(({ svg }) => svg);
    return (
      `<g fill="none" stroke="${sceneColours.line}" stroke-linejoin="round" ${style}>` +
      `${[...this.flat, ...solids, ...this.over].join('')}${this.detections.toDrawing()}</g>`
    );
  }

  at(point: Point): [number, number] {
    return this.projection.at(point);
  }

  protected get unit(): number {
    return this.projection.unit;
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

  protected outline(points: readonly Point[], fill: string): string {
    return pathOf(outlineOf(this.projection, points), fill);
  }

  protected segment(from: Point, to: Point): string {
    return `M${this.at(from).join(' ')}L${this.at(to).join(' ')}`;
  }
}

function pathOf(d: string, fill: string, more = ''): string {
  return `<path fill="${fill}"${more} d="${d}"/>`;
}
