import { palettes } from '../../kit/drawing/palettes.ts';
import { round } from '../../kit/drawing/round.ts';

/** Height of the person in metres, and of a silhouette in the picture's units. */
const METRES = 1.8;
const HEIGHT = 340;
const UNITS_PER_METRE = HEIGHT / METRES;
const WIDTH_METRES = 1.1;
const RESOLUTIONS = [12.5, 25, 62.5];
const STEP = 260;

/** One person at three resolutions of IEC 62676-4, in pixels per metre: monitor, detect and observe. */
export function pixels(): string {
  const drawn = RESOLUTIONS.map((resolution, at) => silhouette(resolution, 140 + at * STEP));
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 450" width="800" height="450">' +
    `<style>${palettes}</style><rect width="800" height="450" fill="var(--raised)"/>` +
    `<g font-family="Geist Mono,ui-monospace,Menlo,Consolas,monospace" font-size="22" font-weight="600" text-anchor="middle" fill="var(--ink)">${drawn.join('')}</g></svg>\n`
  );
}

function silhouette(resolution: number, middle: number): string {
  const size = UNITS_PER_METRE / resolution;
  const rows = Array.from({ length: Math.ceil(METRES * resolution) }, (_, row) =>
    runsOf(row, resolution).map(([from, to]) => {
      const at = (column: number) =>
        round(middle + (column / resolution - WIDTH_METRES / 2) * UNITS_PER_METRE);
      const [left, right] = [at(from), at(to)];
      const [top, bottom] = [round(40 + row * size), round(40 + (row + 1) * size)];
      return `M${left} ${top}H${right}V${bottom}H${left}z`;
    }),
  );
  return (
    `<path d="${rows.flat().join('')}" fill="var(--stroke)"/>` +
    `<text x="${middle}" y="425">${resolution}</text>`
  );
}

/** Runs of filled squares in a row. `to` is exclusive. */
function runsOf(row: number, resolution: number): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (let column = 0; column < WIDTH_METRES * resolution; column += 1) {
    const x = (column + 0.5) / resolution - WIDTH_METRES / 2;
    if (isPerson(x, METRES - (row + 0.5) / resolution)) {
      const last = runs.at(-1);
      if (last?.[1] === column) {
        last[1] += 1;
      } else {
        runs.push([column, column + 1]);
      }
    }
  }
  return runs;
}

/** Coordinates in metres: `x` right of the centre, `y` above the ground. */
function isPerson(x: number, y: number): boolean {
  const isWithin = (left: number, right: number, low: number, high: number) =>
    x >= left && x <= right && y >= low && y <= high;
  const head = Math.hypot(x, (y - 1.66) * 0.85) < 0.115;
  const neck = isWithin(-0.05, 0.05, 1.48, 1.6);
  const shoulders = Math.hypot(x * 0.42, y - 1.36) < 0.1;
  const trunk = isWithin(-0.18, 0.18, 0.84, 1.4);
  const arms = isWithin(-0.27, -0.21, 0.8, 1.36) || isWithin(0.21, 0.27, 0.8, 1.36);
  const legs = isWithin(-0.17, -0.03, 0, 0.86) || isWithin(0.03, 0.17, 0, 0.86);
  const strap = Math.abs(Math.hypot(x - 0.3, y - 0.74) - 0.1) < 0.018 && y > 0.72;
  const bag = isWithin(0.18, 0.46, 0.42, 0.72);
  return head || neck || shoulders || trunk || arms || legs || strap || bag;
}
