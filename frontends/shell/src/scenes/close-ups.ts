/** Widths of the parts of a service's scene that are shown on their own: what is drawn first, and each feature. */
export const CLOSE_UP_WIDTHS = { main: 430, feature: 270 } as const;

/** The height of such a part, as `Detections.closeUp` cuts it out. */
export function closeUpHeight(width: number): number {
  return Math.round(width * 0.6);
}
