export const CLOSE_UP_WIDTHS = { main: 430, feature: 270 } as const;

/** Must match `Detections.closeUp`. */
export function closeUpHeight(width: number): number {
  return Math.round(width * 0.6);
}
