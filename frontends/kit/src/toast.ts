/** Toast: a short message in the corner. */
export interface Toast {
  /** An overlay replaces the overlay before it, and stays a little longer. */
  kind: 'success' | 'error' | 'overlay';
  title: string;
  text: string;
}

export type ToastKind = Toast['kind'];

/** What the toaster is given. */
export interface ToasterProps {
  /** What it has not shown yet. */
  toasts: readonly (Toast & { id: number })[];
  onShown: () => void;
}

/** How long an overlay is shown, and what the toaster cannot show. */
export const OVERLAY_DURATION_MS = 5000;
