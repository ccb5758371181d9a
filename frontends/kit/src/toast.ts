/** Toast: a short message in the corner. */
export interface Toast {
  /** An overlay replaces the overlay before it, and stays a little longer. */
  kind: 'success' | 'error' | 'overlay';
  title: string;
  text: string;
}

/** Props of the toaster. */
export interface ToasterProps {
  /** Queue of toasts that it has not shown yet. */
  toasts: readonly (Toast & { id: number })[];
  onShown: () => void;
}

/** Display time of an overlay, and of a toast that the toaster cannot show. */
export const OVERLAY_DURATION_MS = 5000;
