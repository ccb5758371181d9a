/** Rounds a coordinate to a tenth, which is precise enough for drawings. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
