/** A drawn object, and the box that it fills in the world. */
export interface Solid {
  from: readonly [number, number, number];
  to: readonly [number, number, number];
  svg: string;
}

/**
 * Painter's algorithm: objects behind others come first. Sorting by distance fails where a long object stands
 * beside a short one.
 */
export function depthSorted(solids: readonly Solid[]): Solid[] {
  const done = new Set<Solid>();
  const painted: Solid[] = [];
  const visit = (solid: Solid) => {
    if (!done.has(solid)) {
      done.add(solid);
      solids.filter(other => isBehind(other, solid)).forEach(visit);
      painted.push(solid);
    }
  };
  solids.forEach(visit);
  return painted;
}

function isBehind(a: Solid, b: Solid): boolean {
  const before = (one: Solid, other: Solid) =>
    one.to.some((end, axis) => end <= (other.from[axis] ?? Number.NEGATIVE_INFINITY) + 0.001);
  return before(a, b) && !before(b, a);
}
