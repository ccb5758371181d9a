import type { Detection, Movement, Severity } from './detections.ts';
import { STILL } from './detections.ts';
import type { Point, Size } from './isometric.ts';
import { boxAround, bracketArm, COS, PERSON, PERSON_BOX, SIN, vehicleBlocks } from './isometric.ts';
import { IsometricSvg } from './isometric-svg.ts';
import type { Material } from './materials.ts';
import { materials, sceneColours } from './materials.ts';
import { round } from './round.ts';

/** Repeated motion. At its end people turn round, and vehicles fade out and start again. */
interface Motion {
  to: Point;
  seconds: number;
  /** Time that has passed when the picture opens. */
  sinceSeconds?: number;
}

export class Scene extends IsometricSvg {
  ground(): void {
    const [w, d] = this.world;
    this.slab([0, 0], [w, d], sceneColours.ground, sceneColours.grid);
    const lines = [
      ...range(w).map(x => this.segment([x, 0], [x, d])),
      ...range(d).map(y => this.segment([0, y], [w, y])),
    ];
    this.flat.push(`<path d="${lines.join('')}" stroke="${sceneColours.grid}" stroke-width=".8"/>`);
  }

  /** Ground, and the two walls at the back of a room. */
  room(): void {
    const [w, d, h] = this.world;
    this.ground();
    this.onWall([0, 0], [w, 0, h], materials.plain.right);
    this.onWall([0, 0], [0, d, h], materials.plain.left);
  }

  zone(point: Point, [w, d]: readonly [number, number], severity: Severity = 'seen'): void {
    const ink = ` fill-opacity=".16" stroke="${sceneColours[severity]}" stroke-width="1.6" stroke-dasharray="6 5"`;
    this.flat.push(this.face(point, [w, 0, 0], [0, d, 0], sceneColours[severity], ink));
  }

  trail(points: readonly Point[], ink: string = sceneColours.seen): void {
    const corners = points.map(point => this.at(point).join(' ')).join('L');
    this.flat.push(
      `<path d="M${corners}" stroke="${ink}" stroke-width="2.2" stroke-dasharray="1 6" stroke-linecap="round"/>`,
    );
  }

  /** Flat rectangle on a wall. With a width it lies along x, with a depth along y. */
  onWall(point: Point, [w, d, h]: Size, fill: string): void {
    this.flat.push(this.face(point, [w, d, 0], [0, 0, h], fill));
  }

  sign(point: Point, along: 'x' | 'y', words: string, size = 0.34): void {
    this.flat.push(this.lettering(point, along, words, size));
  }

  lettering(point: Point, along: 'x' | 'y', words: string, size: number): string {
    const [x, y] = this.at(point);
    const slope = along === 'x' ? SIN : -SIN;
    return `<text transform="matrix(${round(COS)} ${slope} 0 1 ${x} ${y})" fill="${sceneColours.line}" stroke="none" font-size="${round(size * this.unit)}">${words}</text>`;
  }

  /** Box with its shadow. `upon` is SVG on its faces. */
  box(point: Point, size: Size, material: Material = materials.plain, upon = ''): void {
    this.shadow(point, size);
    this.solid(point, size, this.block(point, size, material) + upon);
  }

  /** Roof with its ridge along x. */
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

  /** Rows of windows on the two visible walls of a building. One window in `every` is lit. */
  windows([x, y]: Point, [w, d, h]: Size, every = 5): string {
    const panes: string[] = [];
    const levels = range(Math.floor((h - 0.5) / 0.7) - 1);
    for (const level of levels) {
      const z = 0.4 + level * 0.7;
      for (const at of range(Math.floor((w - 0.2) / 0.55) - 1)) {
        const fill = (at * 3 + level * 2) % every === 0 ? sceneColours.lit : sceneColours.glass;
        panes.push(this.face([x + 0.2 + at * 0.55, y + d, z], [0.3, 0, 0], [0, 0, 0.36], fill));
      }
      for (const at of range(Math.floor((d - 0.2) / 0.55) - 1)) {
        const fill = (at * 2 + level * 3 + 1) % every === 0 ? sceneColours.lit : sceneColours.glass;
        panes.push(this.face([x + w, y + 0.2 + at * 0.55, z], [0, 0.3, 0], [0, 0, 0.36], fill));
      }
    }
    return `<g stroke-width=".5">${panes.join('')}</g>`;
  }

  post([x, y, z = 0]: Point, h: number): void {
    const path = this.segment([x, y, z], [x, y, z + h]);
    this.solid([x, y, z], [0.05, 0.05, h], `<path d="${path}" stroke-width="2.4"/>`);
  }

  fence(from: Point, to: Point, h = 0.9): void {
    const [[x1, y1], [x2, y2]] = [from, to];
    const length = Math.max(x2 - x1, y2 - y1);
    const bars = range(Math.round(length / 0.35)).map(at => {
      const part = (at * 0.35) / length;
      const foot: Point = [x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
      return this.segment(foot, [foot[0], foot[1], h]);
    });
    const rails = [h * 0.35, h].map(z => this.segment([x1, y1, z], [x2, y2, z]));
    this.solid(
      [x1, y1, 0],
      [Math.max(x2 - x1, 0.04), Math.max(y2 - y1, 0.04), h],
      `<path d="${[...bars, ...rails].join('')}"/>`,
    );
  }

  tree([x, y, z = 0]: Point): void {
    const [px, py] = this.at([x, y, z]);
    const size = this.unit * 0.5;
    const crown = `<circle cx="${px}" cy="${round(py - size * 2.4)}" r="${round(size)}" fill="${materials.plain.left}"/>`;
    this.shadow([x - 0.1, y - 0.1, z], [0.4, 0.3, 1.6]);
    this.solid(
      [x - 0.2, y - 0.2, z],
      [0.4, 0.4, 1.6],
      `<path d="M${px} ${py}v-${round(size * 1.4)}"/>${crown}`,
    );
  }

  person(point: Point, label = '', severity: Severity = 'seen'): void {
    this.someone(point, [point, point], this.figure(point, severity));
    if (label) {
      this.detectPerson(point, label, severity);
    }
  }

  walker(point: Point, way: Motion, label = ''): void {
    const motion = this.motion('walk', point, way);
    this.someone(point, [point, way.to], `<g${motion.attribute}>${this.figure(point, 'seen')}</g>`);
    if (label) {
      this.detectPerson(point, label, 'seen', motion);
    }
  }

  fallen([x, y]: Point, label: string): void {
    const [px, py] = this.at([x, y]);
    const scale = round(this.unit / 31);
    this.solid(
      [x - 0.2, y - 0.5, 0],
      [0.4, 1, 0.2],
      `<g transform="translate(${px} ${py}) rotate(62)${scale === 1 ? '' : ` scale(${scale})`}" fill="${materials.warm.top}">` +
        '<path d="M-6 12v-20a6 6 0 0 1 12 0v20a6 3 0 0 1-12 0z"/><circle cy="-20" r="5.4"/></g>',
    );
    this.detect([x, y + 0.2], { size: [62, 44], label, severity: 'alert' });
  }

  car(point: Point, along: 'x' | 'y', material: Material = materials.plain, h = 0.3): void {
    const length = along === 'x' ? ([1.9, 0.9] as const) : ([0.9, 1.9] as const);
    this.shadow(point, [length[0], length[1], 0.7]);
    this.solid([point[0], point[1], 0], [...length, 1], this.body(point, along, material, h));
  }

  driver(
    point: Point,
    way: Motion,
    {
      label = '',
      severity = 'seen' as Severity,
      material = materials.plain as Material,
      h = 0.3,
    } = {},
  ): void {
    const along = way.to[1] === point[1] ? 'x' : 'y';
    const [w, d] = along === 'x' ? [1.9, 0.9] : [0.9, 1.9];
    const motion = this.moving(point, [w, d, 0.9], way, this.body(point, along, material, h));
    if (label) {
      this.detect(
        [point[0] + w / 2, point[1] + d / 2],
        { size: [76, 56], label, severity },
        motion,
      );
    }
  }

  travelling(point: Point, size: Size, way: Motion, material: Material = materials.ware): void {
    this.moving(point, size, way, this.block(point, size, material));
  }

  camera(point: Point, target?: Point): void {
    const [x, y] = this.at(point);
    if (target) {
      const [tx, ty] = this.at(target);
      const [near, far] = [this.unit * 2.1, this.unit * 0.7];
      this.flat.push(
        `<path d="M${x} ${y}L${round(tx - near)} ${round(ty - far / 4)} ${round(tx + near)} ${round(ty + far)}z" fill="var(--cone)" stroke="none"/>`,
      );
    }
    this.over.push(
      `<g transform="translate(${x} ${y})" stroke="none"><rect x="-10" y="-7" width="20" height="12" rx="2" fill="var(--ink)"/><circle cx="5" cy="-1" r="3" fill="${sceneColours.seen}"/></g>`,
    );
  }

  detect(
    point: Point,
    { size, label, severity = 'seen' }: Detection,
    motion: Movement = STILL,
  ): void {
    const box = boxAround(this.projection, this.at(point), size);
    const corner = bracketArm(this.projection, box);
    this.detections.add({ box, corner, label, severity }, motion);
  }

  /** Field of view from a camera to the ground, drawn over the objects in it. */
  beam(camera: Point, ground: readonly Point[]): void {
    const path = [camera, ...ground].map(point => this.at(point).join(' ')).join('L');
    this.over.push(`<path d="M${path}z" fill="var(--cone)" stroke="none"/>`);
  }

  /**
   * Adds a close-up around a point. It shows only detections that lie completely within it. The file's
   * fragment is `#v1` for the first close-up, then `#v2`.
   */
  closeUp(point: Point, width: number): void {
    this.detections.closeUp(this.at(point), width);
  }

  /** Object that moves along x or y. Depth sorting treats its whole way as filled. */
  private moving(point: Point, [w, d, h]: Size, way: Motion, svg: string): Movement {
    const motion = this.motion('drive', point, way);
    const [x, y, z = 0] = point;
    const [toX, toY] = way.to;
    this.solid(
      [Math.min(x, toX), Math.min(y, toY), z],
      [Math.abs(toX - x) + w, Math.abs(toY - y) + d, h],
      `<g${motion.attribute}>${svg}</g>`,
    );
    return motion;
  }

  private someone([x, y, z = 0]: Point, [from, to]: readonly [Point, Point], svg: string) {
    const [low, high] = [
      [Math.min(from[0], to[0], x), Math.min(from[1], to[1], y)] as const,
      [Math.max(from[0], to[0], x), Math.max(from[1], to[1], y)] as const,
    ];
    this.solid(
      [low[0] - 0.15, low[1] - 0.15, z],
      [high[0] - low[0] + 0.3, high[1] - low[1] + 0.3, 1.1],
      svg,
    );
  }

  private detectPerson(point: Point, label: string, severity: Severity, motion = STILL) {
    this.detect(point, { size: PERSON_BOX, label, severity }, motion);
  }

  private figure(point: Point, severity: Severity): string {
    const [x, y] = this.at(point);
    const fill = severity === 'alert' ? materials.warm.top : 'var(--figure)';
    const scale = round(this.unit / PERSON.unit);
    const [rx, ry] = PERSON.shadow;
    const { y: cy, radius } = PERSON.head;
    return (
      `<g transform="translate(${x} ${y})${scale === 1 ? '' : ` scale(${scale})`}">` +
      `<ellipse rx="${rx}" ry="${ry}" fill="${sceneColours.line}" stroke="none" opacity=".22"/><g fill="${fill}">` +
      `<path d="${PERSON.body}"/><circle cy="${cy}" r="${radius}"/></g></g>`
    );
  }

  private body(point: Point, along: 'x' | 'y', material: Material, h: number): string {
    const [body, cabin] = vehicleBlocks(point, along, h);
    return (
      this.block(...body, material) + this.block(...cabin, h > 0.4 ? material : materials.glass)
    );
  }

  private motion(
    kind: 'walk' | 'drive',
    from: Point,
    { to, seconds, sinceSeconds = 0 }: Motion,
  ): Movement {
    const [x, y] = this.at(from);
    const [tx, ty] = this.at(to);
    const delay = sinceSeconds ? `;animation-delay:-${sinceSeconds}s` : '';
    const by = [round(tx - x), round(ty - y)] as const;
    const way = `--x:${by[0]}px;--y:${by[1]}px;animation-duration:${seconds}s${delay}`;
    return { attribute: ` class="${kind} ${this.styles.classOf(way)}"`, by };
  }
}

function range(to: number): number[] {
  return Array.from({ length: Math.max(to + 1, 0) }, (_, at) => at);
}
