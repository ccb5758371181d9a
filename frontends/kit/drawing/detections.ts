import type { Pixel, Rect } from './isometric.ts';
import { bracketsOf } from './isometric.ts';
import { sceneColours } from './materials.ts';
import { round } from './round.ts';
import type { StyleRules } from './style-rules.ts';

/** An alert needs a person's attention. */
export type Severity = 'seen' | 'alert';

/** Detected object: the size of its bounding box, and its label. */
export interface Detection {
  size: Pixel;
  label: string;
  severity?: Severity;
}

/** Movement of a detected object: the attribute that animates its element, and the distance in pixels. */
export interface Movement {
  attribute: string;
  by: readonly [x: number, y: number];
}

export const STILL: Movement = { attribute: '', by: [0, 0] };

interface PlacedDetection {
  box: Rect;
  /** Length of the brackets' arms. */
  corner: number;
  label: string;
  severity: Severity;
}

interface DrawnDetection {
  area: Rect;
  svg: string;
}

/** Minimum distance between labels. */
const GAP = 3;
/** Smallest legible font size, in pixels on the screen. */
const LEGIBLE = 11;

/** Width of a letter as a fraction of the font size, the same in most monospaced fonts. */
const LETTER = 0.6;

/** Detections of a picture, and its close-ups: parts that pages show as separate pictures. */
export class Detections {
  /** Font size of the labels. */
  readonly type: number;
  private readonly picture: Pixel;
  private readonly styles: StyleRules;
  private readonly drawn: DrawnDetection[] = [];
  /** Areas that labels cover, including their movement. */
  private readonly covered: Rect[] = [];
  private readonly closeUps: Rect[] = [];

  constructor(picture: Pixel, type: number, styles: StyleRules) {
    this.picture = picture;
    this.styles = styles;
    this.type = type;
  }

  /** Draws corner brackets around a box, with a label where there is room. */
  add({ box, corner, label, severity }: PlacedDetection, { attribute, by }: Movement): void {
    const words = round(label.length * this.type * LETTER);
    const [high, pad] = [round(this.type * 1.35), round(this.type * 0.36)];
    const tag = this.placeFor(box, [round(words + 2 * pad), high], by);
    const text =
      `<g class="label" transform="translate(${tag.left} ${tag.top})" stroke="none"><rect width="${tag.width}" height="${high}" fill="${sceneColours[severity]}"/>` +
      `<text x="${pad}" y="${this.type}" fill="${severity === 'alert' ? 'var(--on-alert)' : sceneColours.onSeen}" textLength="${words}">${label}</text></g>`;
    const brackets = `<path d="${bracketsOf(box, corner)}" stroke="${sceneColours[severity]}" stroke-width="2.4"/>`;
    const delay = round(0.55 + 0.35 * this.drawn.length);
    const lock = ` class="lock ${this.styles.classOf(`animation-delay:${delay}s`)}"`;
    this.covered.push(swept(tag, by));
    this.drawn.push({
      area: around(box, tag),
      svg: `<g${attribute}><g${lock}>${brackets}${text}</g></g>`,
    });
  }

  closeUp([x, y]: Pixel, width: number): void {
    const height = Math.round(width * 0.6);
    const [w, h] = this.picture;
    const left = Math.min(Math.max(Math.round(x - width / 2), 0), w - width);
    const top = Math.min(Math.max(Math.round(y - height / 2), 0), h - height);
    this.closeUps.push({ left, top, width, height });
  }

  toDrawing(): string {
    return this.drawn.map(({ svg }, at) => `<g class="find f${at}">${svg}</g>`).join('');
  }

  /** Close-ups as view elements: https://www.w3.org/TR/SVG2/linking.html#ViewElement */
  views(): string {
    return this.closeUps
      .map(
        ({ left, top, width, height }, at) =>
          `<view id="v${at + 1}" viewBox="${left} ${top} ${width} ${height}"/>`,
      )
      .join('');
  }

  /** CSS by which a close-up shows only detections that lie completely within it. */
  rules(): string {
    const shown = this.closeUps.flatMap((closeUp, at) =>
      this.drawn.flatMap(({ area }, detection) =>
        isWithin(area, closeUp) ? [`#v${at + 1}:target~g .f${detection}`] : [],
      ),
    );
    const rules = this.closeUps.length > 0 ? 'view:target~g .find{display:none}' : '';
    return shown.length > 0 ? `${rules}${shown.join(',')}{display:inline}` : rules;
  }

  /** CSS that removes the labels where the picture is too small to read them. */
  legibility(): string {
    const narrowest = Math.ceil((this.picture[0] * LEGIBLE) / this.type);
    return `@media not all and (min-width:${narrowest}px){.label{display:none}}`;
  }

  /** First place above, below or beside the box where the moving label never overlaps another label. */
  private placeFor(box: Rect, [width, height]: Pixel, by: Movement['by']): Rect {
    const [above, below] = [round(box.top - height - 3), round(box.top + box.height + 3)];
    const [left, right] = [round(box.left - 1), round(box.left + box.width + 1 - width)];
    const [before, behind] = [round(box.left - width - 3), round(box.left + box.width + 3)];
    const places = [
      { left, top: above, width, height },
      { left: right, top: above, width, height },
      { left, top: below, width, height },
      { left: right, top: below, width, height },
      { left: behind, top: box.top, width, height },
      { left: before, top: box.top, width, height },
    ];
    const isFree = (place: Rect) => {
      const way = swept(place, by);
      return (
        isWithin(way, this.whole()) && !this.covered.some(other => overlap(widened(way), other))
      );
    };
    return places.find(isFree) ?? { left, top: above, width, height };
  }

  private whole(): Rect {
    const [width, height] = this.picture;
    return { left: 0, top: 0, width, height };
  }
}

function widened({ left, top, width, height }: Rect): Rect {
  return { left: left - GAP, top: top - GAP, width: width + 2 * GAP, height: height + 2 * GAP };
}

/** Area that a moving rectangle covers. */
function swept(rect: Rect, [x, y]: Movement['by']): Rect {
  return around(rect, { ...rect, left: rect.left + x, top: rect.top + y });
}

function around(a: Rect, b: Rect): Rect {
  const [left, top] = [Math.min(a.left, b.left), Math.min(a.top, b.top)];
  return {
    left,
    top,
    width: Math.max(a.left + a.width, b.left + b.width) - left,
    height: Math.max(a.top + a.height, b.top + b.height) - top,
  };
}

function isWithin(area: Rect, frame: Rect): boolean {
  return (
    area.left >= frame.left &&
    area.top >= frame.top &&
    area.left + area.width <= frame.left + frame.width &&
    area.top + area.height <= frame.top + frame.height
  );
}

function overlap(a: Rect, b: Rect): boolean {
  return (
    a.left < b.left + b.width &&
    b.left < a.left + a.width &&
    a.top < b.top + b.height &&
    b.top < a.top + a.height
  );
}
