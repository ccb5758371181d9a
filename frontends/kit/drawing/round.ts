/** A coordinate as precise as drawings need it. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
